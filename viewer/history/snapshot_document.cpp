#include "viewer/history/snapshot_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "viewer/history/replay.hpp"

namespace tidemark::viewer {
namespace {

using history::Action;
using history::BlockState;
using history::StackId;

constexpr std::uint64_t kNsPerUs = 1000;
// The shared value of a stack that isn't in the table: blocks from before the recording.
constexpr std::uint64_t kOlderStack = UINT64_MAX;

class Writer {
 public:
  Writer(const MemorySnapshot& snapshot, DocumentSink& to)
      : snapshot_(snapshot), to_(to), indices_(document_indices(snapshot.devices)) {
    for (const history::Device& device : snapshot.devices) {
      replays_.push_back(replay(device, !snapshot.has_guessed_sizes));
      written_.events += device.events.size() - replays_.back().first;
      written_.left_out += replays_.back().first;
    }
  }

  WrittenDocument write() {
    to_.begin_dict();
    to_.key("segments");
    to_.begin_list();
    for (std::size_t i = 0; i < snapshot_.devices.size(); ++i) {
      for (const history::Segment& segment : snapshot_.devices[i].segments) {
        write_segment(indices_[i], segment);
      }
    }
    to_.end_list();
    write_traces();
    write_settings();
    to_.key("external_annotations");
    to_.begin_list();
    to_.end_list();
    write_own();
    to_.end_dict();
    return written_;
  }

 private:
  void put(std::string_view key, std::uint64_t value) {
    to_.key(key);
    to_.integer(value);
  }
  void put(std::string_view key, std::string_view value) {
    to_.key(key);
    to_.text(value);
  }
  void put(std::string_view key, const char* value) { put(key, std::string_view{value}); }
  void put(std::string_view key, bool value) {
    to_.key(key);
    to_.boolean(value);
  }
  void put_time(std::string_view key, const std::optional<std::uint64_t>& ns) {
    to_.key(key);
    ns&&* ns != 0 ? to_.integer(*ns / kNsPerUs) : to_.null();
  }

  void put_frames(std::uint64_t id, const Frames& frames) {
    to_.key("frames");
    if (!to_.begin_shared(id)) {
      return;
    }
    to_.begin_list();
    for (const Frame& frame : frames) {
      to_.begin_dict();
      put("name", frame.name);
      put("filename", frame.file.empty() ? kNoFile : std::string_view{frame.file});
      put("line", std::uint64_t{frame.line});
      to_.end_dict();
    }
    to_.end_list();
    to_.end_shared(id);
  }

  void write_segment(std::size_t device, const history::Segment& segment) {
    std::uint64_t allocated = 0;
    std::uint64_t active = 0;
    std::uint64_t requested = 0;
    for (const history::Block& block : segment.blocks) {
      allocated += is_held(block) ? block.size : 0;
      active += is_held(block) || is_pending(block) ? block.size : 0;
      requested += block.requested;
    }
    to_.begin_dict();
    put("device", std::uint64_t{device});
    put("address", segment.address);
    put("total_size", segment.size);
    put("allocated_size", allocated);
    put("active_size", active);
    put("requested_size", requested);
    put("stream", std::uint64_t{0});
    put("segment_type", segment.is_large ? "large" : "small");
    to_.key("segment_pool_id");
    to_.pair(0, 0);
    put("is_expandable", false);
    put_frames(segment.stack, frames_at(snapshot_, segment.stack));
    if (segment.birth_ns) {
      put_time("time_us", segment.birth_ns);
    }
    to_.key("blocks");
    to_.begin_list();
    for (const history::Block& block : segment.blocks) {
      write_block(block);
    }
    to_.end_list();
    to_.end_dict();
  }

  void write_block(const history::Block& block) {
    to_.begin_dict();
    put("address", block.address);
    put("size", block.size);
    put("requested_size", block.requested);
    // Of a place that the history says nothing about: for PyTorch's viewers a block is one of three.
    put("state", to_text(block.state == BlockState::Unknown ? BlockState::Inactive : block.state));
    put_frames(block.is_older && block.stack == 0 ? kOlderStack : block.stack, frames_of(snapshot_, block));
    if (block.birth_ns) {
      put_time("time_us", block.birth_ns);
    }
    if (block.is_older) {
      put("older", true);
    }
    to_.end_dict();
  }

  // A list for every number below the largest: the viewers index it by a segment's device.
  void write_traces() {
    to_.key("device_traces");
    to_.begin_list();
    const std::size_t lists = indices_.empty() ? 0 : *std::max_element(indices_.begin(), indices_.end()) + 1;
    for (std::size_t index = 0; index < lists; ++index) {
      to_.begin_list();
      const auto found = std::find(indices_.begin(), indices_.end(), index);
      if (found != indices_.end()) {
        const auto at = static_cast<std::size_t>(found - indices_.begin());
        const std::vector<history::Event>& events = snapshot_.devices[at].events;
        for (std::size_t i = replays_[at].first; i < events.size(); ++i) {
          write_event(events[i]);
        }
      }
      to_.end_list();
    }
    to_.end_list();
  }

  void write_event(const history::Event& event) {
    const bool is_of_block = event.action == Action::Alloc || event.action == Action::FreeRequested ||
                             event.action == Action::FreeCompleted || event.action == Action::OutOfMemory;
    const std::uint64_t size = is_of_block && event.requested != 0 ? event.requested : event.size;
    to_.begin_dict();
    put("action", to_text(event.action));
    put(event.action == Action::OutOfMemory ? "device_free" : "addr",
        event.action == Action::OutOfMemory ? event.device_free : event.address);
    put("size", size);
    put("stream", std::uint64_t{0});
    put("time_us", event.time_ns / kNsPerUs);
    if (event.stack != 0) {
      put_frames(event.stack, frames_at(snapshot_, event.stack));
    }
    if (size != event.size) {
      put("block_size", event.size);
    }
    to_.end_dict();
  }

  void write_settings() {
    to_.key("allocator_settings");
    to_.begin_dict();
    put("PYTORCH_CUDA_ALLOC_CONF", snapshot_.source.settings);
    put("expandable_segments", false);
    to_.end_dict();
  }

  void write_own() {
    const history::Recording& recording = snapshot_.recording;
    to_.key("tidemark");
    to_.begin_dict();
    put("version", TIDEMARK_VERSION);
    put("pid", static_cast<std::uint64_t>(recording.pid));
    put("id", snapshot_.source.id);
    put("title", snapshot_.source.title);
    put("has_ended", snapshot_.source.has_ended);
    put_time("time_us", snapshot_.time_ns());
    put_time("since_us", recording.since_ns);
    put("recorded", to_text(recording.enabled));
    put("stacks", to_text(recording.stacks));
    put("lost", recording.lost);
    to_.key("devices");
    to_.begin_list();
    for (std::size_t i = 0; i < snapshot_.devices.size(); ++i) {
      const history::Device& device = snapshot_.devices[i];
      to_.begin_dict();
      put("index", std::uint64_t{indices_[i]});
      put("device", device_name(device.info));
      put("name", device.info.name.view());
      put("capacity_bytes", device.info.capacity_bytes);
      put("events_ever", device.events_ever);
      put("changes_lost", device.changes_lost);
      put("is_approximate", device.is_approximate);
      to_.end_dict();
    }
    to_.end_list();
    to_.end_dict();
  }

  const MemorySnapshot& snapshot_;
  DocumentSink& to_;
  const std::vector<std::size_t> indices_;
  std::vector<Replay> replays_;
  WrittenDocument written_;
};

}  // namespace

WrittenDocument write_document(const MemorySnapshot& snapshot, DocumentSink& to) {
  return Writer{snapshot, to}.write();
}

}  // namespace tidemark::viewer
