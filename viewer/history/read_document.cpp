#include "viewer/history/read_document.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tidemark::viewer {
namespace {

using history::Action;
using history::BlockState;
using history::StackId;

constexpr std::uint64_t kNsPerUs = 1000;

template <class Enum>
Enum enum_of(std::string_view word, Enum last, Enum otherwise) {
  for (int i = static_cast<int>(last); i > 0; --i) {
    if (word == to_text(static_cast<Enum>(i))) {
      return static_cast<Enum>(i);
    }
  }
  return otherwise;
}

std::optional<std::uint64_t> ns_of(const Value& us) {
  return us.is_integer() ? std::optional{us.integer() * kNsPerUs} : std::nullopt;
}

// What PyTorch makes of a request: whole units of 512 bytes.
std::uint64_t rounded(std::uint64_t requested) {
  constexpr std::uint64_t kUnit = 512;
  return requested > UINT64_MAX - kUnit ? requested : std::max(kUnit, (requested + kUnit - 1) / kUnit * kUnit);
}

class Reader {
 public:
  explicit Reader(const Value& document) : document_(document), own_(document["tidemark"]) {}

  MemorySnapshot read() {
    if (!document_["segments"].list()) {
      throw BadDocument("is no snapshot: it has no list of segments");
    }
    snapshot_.stacks.emplace_back();
    snapshot_.has_guessed_sizes = own_.is_null();
    read_source();
    read_devices();
    for (const Value& segment : document_["segments"].items()) {
      read_segment(segment);
    }
    const std::vector<Value>& traces = document_["device_traces"].items();
    for (std::size_t i = 0; i < traces.size(); ++i) {
      read_trace(i, traces[i]);
    }
    for (auto& [index, device] : devices_) {
      std::ranges::sort(device.segments, {}, &history::Segment::address);
    }
    for (std::size_t index : order_) {
      snapshot_.devices.push_back(std::move(devices_.at(index)));
    }
    return std::move(snapshot_);
  }

 private:
  void read_source() {
    snapshot_.source = {.id = std::string{own_["id"].text()},
                        .title = std::string{own_["title"].text()},
                        .settings = std::string{document_["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"].text()},
                        .has_ended = own_["has_ended"].is_true()};
    history::Recording& recording = snapshot_.recording;
    recording.kind = history::Kind::Snapshot;
    recording.pid = static_cast<std::int64_t>(own_["pid"].integer());
    recording.enabled = enum_of(own_["recorded"].text(), history::Enabled::All, history::Enabled::Off);
    recording.stacks = enum_of(own_["stacks"].text(), history::Stacks::All, history::Stacks::None);
    recording.since_ns = ns_of(own_["since_us"]).value_or(0);
    recording.taken_ns = ns_of(own_["time_us"]);
    recording.lost = own_["lost"].integer();
    if (own_.is_null()) {
      recording.enabled = history::Enabled::All;
    }
  }

  history::Device& device(std::uint64_t index) {
    if (index >= 2 * kMostDeviceNumbers) {
      throw BadDocument("is no sound snapshot: it has a device of a number that no machine has");
    }
    const auto [found, is_new] = devices_.try_emplace(index);
    if (is_new) {
      order_.push_back(index);
      found->second.info.backend = own_.is_null() ? segment::Backend::Cuda : segment::Backend::Unknown;
      found->second.info.ordinal = static_cast<std::uint32_t>(index);
    }
    return found->second;
  }

  void read_devices() {
    for (const Value& entry : own_["devices"].items()) {
      history::Device& read = device(entry["index"].integer());
      const std::string_view name = entry["device"].text();
      const auto backend = name.substr(0, name.find(':'));
      read.info.backend = backend == "mtia"   ? segment::Backend::Mtia
                          : backend == "cuda" ? segment::Backend::Cuda
                                              : segment::Backend::Unknown;
      read.info.ordinal = ordinal_of(name);
      read.info.name.assign(entry["name"].text());
      read.info.capacity_bytes = entry["capacity_bytes"].integer();
      read.events_ever = entry["events_ever"].integer();
      read.changes_lost = entry["changes_lost"].integer();
      read.is_approximate = entry["is_approximate"].is_true();
    }
  }

  static std::uint32_t ordinal_of(std::string_view name) {
    std::uint32_t ordinal = 0;
    for (const char c : name.substr(std::min(name.size(), name.find(':')))) {
      ordinal = c >= '0' && c <= '9' ? ordinal * 10 + static_cast<std::uint32_t>(c - '0') : ordinal;
    }
    return ordinal;
  }

  StackId stack_of(const Value& frames) {
    const ListPtr list = frames.list();
    if (!list || list->items.empty()) {
      return 0;
    }
    const auto [known, is_new] = stacks_.try_emplace(list.get(), static_cast<StackId>(snapshot_.stacks.size()));
    if (is_new) {
      Frames& read = snapshot_.stacks.emplace_back();
      for (const Value& frame : list->items) {
        read.push_back({.name = std::string{frame["name"].text()},
                        .file = std::string{frame["filename"].text()},
                        .line = static_cast<std::uint32_t>(frame["line"].integer())});
      }
    }
    return known->second;
  }

  // Where blocks begin is what the sizes before them say: PyTorch's own documents needn't tell.
  void read_segment(const Value& value) {
    history::Segment segment{.address = value["address"].integer(),
                             .size = value["total_size"].integer(),
                             .is_large = value["segment_type"].text() == "large",
                             .stack = stack_of(value["frames"]),
                             .birth_ns = ns_of(value["time_us"])};
    std::uint64_t at = segment.address;
    for (const Value& entry : value["blocks"].items()) {
      history::Block block{.address = at,
                           .size = entry["size"].integer(),
                           .requested = 0,
                           .state = enum_of(entry["state"].text(), BlockState::Pending, BlockState::Pending),
                           .birth_ns = ns_of(entry["time_us"]),
                           .is_older = entry["older"].is_true()};
      if (block.state != BlockState::Inactive) {
        const Value& requested = entry["requested_size"];
        block.requested = requested.is_integer() ? requested.integer() : block.size;
        block.stack = block.is_older ? 0 : stack_of(entry["frames"]);
      }
      at += block.size;
      segment.blocks.push_back(block);
    }
    if (at != segment.address + segment.size) {
      throw BadDocument("is no sound snapshot: the blocks of a segment don't fill it");
    }
    device(value["device"].integer()).segments.push_back(std::move(segment));
  }

  void read_trace(std::size_t index, const Value& trace) {
    if (trace.items().empty()) {
      return;
    }
    history::Device& read = device(index);
    read.events_ever = std::max<std::uint64_t>(read.events_ever, trace.items().size());
    std::uint64_t number = read.events_ever - trace.items().size();
    for (const Value& entry : trace.items()) {
      read.events.push_back(event_of(entry, number++));
    }
  }

  history::Event event_of(const Value& entry, std::uint64_t number) {
    history::Event event{.number = number,
                         .action = enum_of(entry["action"].text(), Action::PeakReset, Action::None),
                         .stack = stack_of(entry["frames"]),
                         .address = entry["addr"].integer(),
                         .size = entry["size"].integer(),
                         .requested = entry["size"].integer(),
                         .time_ns = entry["time_us"].integer() * kNsPerUs,
                         .device_free = entry["device_free"].integer()};
    const bool is_of_block =
        event.action == Action::Alloc || event.action == Action::FreeRequested || event.action == Action::FreeCompleted;
    if (const Value& size = entry["block_size"]; size.is_integer()) {
      event.size = size.integer();
    } else if (snapshot_.has_guessed_sizes && is_of_block) {
      event.size = rounded(event.requested);
    }
    return event;
  }

  const Value& document_;
  const Value& own_;
  MemorySnapshot snapshot_;
  std::unordered_map<std::size_t, history::Device> devices_;
  std::vector<std::size_t> order_;
  std::unordered_map<const void*, StackId> stacks_;
};

}  // namespace

MemorySnapshot read_document(const Value& document) { return Reader{document}.read(); }

}  // namespace tidemark::viewer
