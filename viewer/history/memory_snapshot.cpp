#include "viewer/history/memory_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {

std::uint64_t MemorySnapshot::time_ns() const {
  if (recording.taken_ns) {
    return *recording.taken_ns;
  }
  // A process's own history ends with what happened last.
  std::uint64_t last = 0;
  for (const history::Device& device : devices) {
    last = std::max(last, device.events.empty() ? 0 : device.events.back().time_ns);
    for (const history::Segment& segment : device.segments) {
      for (const history::Block& block : segment.blocks) {
        last = std::max(last, block.birth_ns.value_or(0));
      }
    }
  }
  return last;
}

std::string device_name(const segment::DeviceInfo& info) {
  return info.backend == segment::Backend::Unknown ? fmt::format("device {}", info.ordinal)
                                                   : fmt::format("{}:{}", to_text(info.backend), info.ordinal);
}

std::vector<std::size_t> document_indices(const std::vector<history::Device>& devices) {
  std::vector<std::size_t> indices;
  // More than any machine has: the history is damaged. A document has a list for each number below.
  const bool are_sound = std::ranges::all_of(
      devices, [](const history::Device& device) { return device.info.ordinal < kMostDeviceNumbers; });
  std::size_t first_mtia = 0;
  for (const history::Device& device : devices) {
    if (device.info.backend != segment::Backend::Mtia) {
      first_mtia = std::max<std::size_t>(first_mtia, device.info.ordinal + std::size_t{1});
    }
  }
  for (const history::Device& device : devices) {
    const bool is_mtia = device.info.backend == segment::Backend::Mtia;
    indices.push_back(are_sound ? device.info.ordinal + (is_mtia ? first_mtia : 0) : indices.size());
  }
  return indices;
}

const Frames& frames_at(const MemorySnapshot& snapshot, history::StackId stack) {
  static const Frames kNone;
  return stack < snapshot.stacks.size() ? snapshot.stacks[stack] : kNone;
}

const Frames& frames_of(const MemorySnapshot& snapshot, const history::Block& block) {
  static const Frames kOlder{{.name = std::string{kBeforeRecording}, .file = std::string{kNoFile}}};
  return block.is_older && block.stack == 0 && snapshot.has_stacks() ? kOlder : frames_at(snapshot, block.stack);
}

}  // namespace tidemark::viewer
