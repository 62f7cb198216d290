#include "viewer/history/growth.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "viewer/history/compare.hpp"

namespace tidemark::viewer {
namespace {

// Of each stack what it took between the two moments and still holds.
std::map<std::string, Held> survivors(const MemorySnapshot& snapshot, const history::Device& device,
                                      std::uint64_t begin_ns, std::uint64_t middle_ns) {
  std::map<const Frames*, Held> by_frames;
  for_each_held(device, [&](const history::Segment&, const history::Block& block) {
    if (!block.is_older && block.birth_ns && *block.birth_ns >= begin_ns && *block.birth_ns <= middle_ns) {
      by_frames[&frames_of(snapshot, block)].add(block);
    }
  });
  std::map<std::string, Held> by_key;
  for (const auto& [frames, held] : by_frames) {
    Held& sum = by_key[stack_key(*frames)];
    sum.bytes += held.bytes;
    sum.blocks += held.blocks;
  }
  return by_key;
}

}  // namespace

std::vector<DeviceGrowth> find_growth(std::uint64_t begin_ns, const MemorySnapshot& middle, const MemorySnapshot& end) {
  std::vector<DeviceGrowth> growths;
  for (DeviceChange& change : compare(middle, end)) {
    DeviceGrowth growth{.device = change.device, .middle = change.before, .end = change.after};
    const auto device = std::find_if(end.devices.begin(), end.devices.end(), [&](const history::Device& one) {
      return device_name(one.info) == change.device;
    });
    const auto survived = device == end.devices.end() ? std::map<std::string, Held>{}
                                                      : survivors(end, *device, begin_ns, middle.time_ns());
    for (Change& stack : change.stacks) {
      const auto found = survived.find(stack_key(stack.frames));
      if (stack.bytes() > 0 && found != survived.end()) {
        growth.growing.push_back(
            {.frames = std::move(stack.frames), .middle = stack.before, .end = stack.after, .survived = found->second});
      } else if (stack.bytes() > 0) {
        const bool is_known = !stack.frames.empty() && stack.frames.front().name != kBeforeRecording;
        (is_known ? growth.late_bytes : growth.unknown_bytes) += static_cast<std::uint64_t>(stack.bytes());
      }
    }
    growths.push_back(std::move(growth));
  }
  return growths;
}

}  // namespace tidemark::viewer
