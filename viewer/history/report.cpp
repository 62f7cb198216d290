#include "viewer/history/report.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "viewer/history/replay.hpp"

namespace tidemark::viewer {
namespace {

using history::BlockState;

void add_segment(PoolReport& pool, const history::Segment& segment) {
  ++pool.segments;
  pool.reserved += segment.size;
  std::uint64_t free = 0;
  bool is_idle = true;
  for (const history::Block& block : segment.blocks) {
    if (is_free(block)) {
      free += block.size;
      ++pool.free_blocks;
      pool.largest_free = std::max(pool.largest_free, block.size);
      continue;
    }
    is_idle = false;
    pool.allocated += is_held(block) ? block.size : 0;
    pool.pending += is_pending(block) ? block.size : 0;
  }
  pool.free += free;
  pool.split_free += is_idle ? 0 : free;
  pool.idle_segments += is_idle ? 1U : 0U;
}

// In each part the most of what was there at any moment of it, its beginning included.
std::vector<TimePart> timeline_of(const std::vector<Moment>& moments, std::uint64_t end_ns, std::size_t parts) {
  const std::uint64_t begin = moments.front().time_ns;
  const std::uint64_t length = std::max<std::uint64_t>(end_ns - begin, 1);
  std::vector<TimePart> timeline(parts);
  Moment now = moments.front();
  std::size_t next = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    TimePart& part = timeline[i];
    // Not length * i / parts: that could overflow.
    part.time_ns = begin + length / parts * i + length % parts * i / parts;
    const std::uint64_t part_end = begin + length / parts * (i + 1) + length % parts * (i + 1) / parts;
    part.allocated = now.allocated;
    part.reserved = now.reserved;
    for (; next < moments.size() && (moments[next].time_ns < part_end || i + 1 == parts); ++next) {
      now = moments[next];
      part.allocated = std::max(part.allocated, now.allocated);
      part.reserved = std::max(part.reserved, now.reserved);
    }
  }
  return timeline;
}

void add_time(DeviceReport& report, const history::Device& device, const Replay& past, std::uint64_t now_ns,
              std::size_t parts) {
  report.events = device.events.size() - past.first;
  if (past.moments.empty()) {
    return;
  }
  report.timeline_end_ns = std::max(now_ns, past.moments.back().time_ns);
  report.timeline = timeline_of(past.moments, report.timeline_end_ns, parts);
  const auto highest = std::max_element(past.moments.begin(), past.moments.end(),
                                        [](const Moment& a, const Moment& b) { return a.allocated < b.allocated; });
  report.highest =
      TimePart{.time_ns = highest->time_ns, .allocated = highest->allocated, .reserved = highest->reserved};
}

// The limit that the device has now, where it alone can have refused this: the driver had enough.
std::optional<std::uint64_t> limit_that_refused(const history::Device& device, const OutOfMemory& failure) {
  if (!device.basis || failure.device_free < failure.requested) {
    return std::nullopt;
  }
  const std::uint64_t limit = (*device.basis)[BasisWord::limit_bytes];
  const bool has_refused = (*device.basis)[BasisWord::limit_rejections_lifetime] > 0;
  return limit > 0 && has_refused ? std::optional{limit} : std::nullopt;
}

std::vector<OutOfMemory> failures_of(const MemorySnapshot& snapshot, const history::Device& device) {
  std::vector<OutOfMemory> failures;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> places;
  for (const history::Event& event : device.events) {
    if (event.action != history::Action::OutOfMemory) {
      continue;
    }
    const std::uint64_t requested = event.requested != 0 ? event.requested : event.size;
    const Frames& frames = frames_at(snapshot, event.stack);
    const auto [place, is_new] = places.try_emplace({stack_key(frames), requested}, failures.size());
    if (is_new) {
      failures.push_back({.time_ns = event.time_ns, .requested = requested, .frames = frames});
    }
    OutOfMemory& failure = failures[place->second];
    ++failure.times;
    failure.last_time_ns = event.time_ns;
    failure.device_free = event.device_free;
    failure.limit = limit_that_refused(device, failure);
  }
  return failures;
}

DeviceReport report_of(const MemorySnapshot& snapshot, const history::Device& device, std::uint64_t now_ns,
                       std::size_t parts) {
  DeviceReport report{.device = device_name(device.info), .model = std::string{device.info.name.view()}};
  report.all = held_in_all(device);
  report.segments = device.segments.size();
  report.pools = {PoolReport{.name = "small"}, PoolReport{.name = "large"}};
  for (const history::Segment& segment : device.segments) {
    add_segment(report.pools[segment.is_large ? 1 : 0], segment);
  }
  for (const PoolReport& pool : report.pools) {
    report.reserved += pool.reserved;
    report.pending += pool.pending;
  }
  report.stacks = held_by_stack(snapshot, device);
  report.sizes = held_by_size(device);
  report.ages = held_by_age(device, now_ns);
  add_time(report, device, replay(device, !snapshot.has_guessed_sizes), now_ns, parts);
  report.out_of_memory = failures_of(snapshot, device);
  return report;
}

}  // namespace

Report report_of(const MemorySnapshot& snapshot, std::size_t parts) {
  Report report{.source = snapshot.source, .recording = snapshot.recording, .time_ns = snapshot.time_ns()};
  for (const history::Device& device : snapshot.devices) {
    report.devices.push_back(report_of(snapshot, device, report.time_ns, parts));
  }
  return report;
}

}  // namespace tidemark::viewer
