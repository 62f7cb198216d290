#include "viewer/history/replay.hpp"

#include <algorithm>
#include <map>

namespace tidemark::viewer {
namespace {

using history::Action;
using history::Event;

using Ranges = std::map<std::uint64_t, std::uint64_t>;  // address to size

bool overlaps(const Ranges& ranges, std::uint64_t address, std::uint64_t size) {
  auto next = ranges.lower_bound(address);
  if (next != ranges.end() && next->first - address < size) {
    return true;
  }
  return next != ranges.begin() && (--next, next->second > address - next->first);
}

bool contains(const Ranges& ranges, std::uint64_t address, std::uint64_t size) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin()) {
    return false;
  }
  --next;
  const std::uint64_t offset = address - next->first;
  return offset <= next->second && size <= next->second - offset;
}

class State {
 public:
  State(const history::Device& device, bool is_exact) : is_exact_(is_exact) {
    for (const history::Segment& segment : device.segments) {
      segments_[segment.address] = segment.size;
      reserved_ += segment.size;
      for (const history::Block& block : segment.blocks) {
        if (block.state == history::BlockState::Allocated) {
          held_[block.address] = block.size;
          allocated_ += block.size;
        } else if (block.state == history::BlockState::Pending) {
          pending_[block.address] = block.size;
        }
      }
    }
  }

  // False: it cannot have happened.
  bool take_back(const Event& event) {
    switch (event.action) {
      case Action::Alloc:
        return is_in_segment(event) && take(held_, event, allocated_);
      case Action::FreeRequested:
        if (!take(pending_, event, ignored_)) {
          return false;
        }
        held_[event.address] = event.size;
        allocated_ += event.size;
        return true;
      case Action::FreeCompleted:
        if (is_in_use(event) || !is_in_segment(event)) {
          return false;
        }
        pending_[event.address] = event.size;
        return true;
      case Action::SegmentAlloc:
        return !is_in_use(event) && take(segments_, event, reserved_);
      case Action::SegmentFree:
        if (overlaps(segments_, event.address, event.size)) {
          return false;
        }
        segments_[event.address] = event.size;
        reserved_ += event.size;
        return true;
      default:
        return true;
    }
  }

  [[nodiscard]] Moment at(std::uint64_t time_ns) const {
    return {.time_ns = time_ns, .allocated = allocated_, .reserved = reserved_};
  }

  [[nodiscard]] std::vector<Earlier> in_use() const {
    Ranges all = held_;
    all.insert(pending_.begin(), pending_.end());
    std::vector<Earlier> list;
    for (const auto& [address, size] : all) {
      list.push_back({address, size});
    }
    return list;
  }

 private:
  [[nodiscard]] bool is_in_use(const Event& event) const {
    return overlaps(held_, event.address, event.size) || overlaps(pending_, event.address, event.size);
  }

  [[nodiscard]] bool is_in_segment(const Event& event) const {
    return !is_exact_ || contains(segments_, event.address, event.size);
  }

  bool take(Ranges& ranges, const Event& event, std::uint64_t& sum) const {
    const auto found = ranges.find(event.address);
    if (found == ranges.end() || (is_exact_ && found->second != event.size)) {
      return false;
    }
    sum -= found->second;
    ranges.erase(found);
    return true;
  }

  const bool is_exact_;
  Ranges segments_;
  Ranges held_;
  Ranges pending_;
  std::uint64_t allocated_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace

Replay replay(const history::Device& device, bool is_exact) {
  Replay result;
  State state{device, is_exact};
  std::size_t at = device.events.size();
  for (; at > 0; --at) {
    const Event& event = device.events[at - 1];
    const Moment after = state.at(event.time_ns);
    if (!state.take_back(event)) {
      break;
    }
    result.moments.push_back(after);
  }
  result.first = at;
  if (at < device.events.size()) {
    result.moments.push_back(state.at(device.events[at].time_ns));
  }
  std::ranges::reverse(result.moments);
  result.earlier = state.in_use();
  return result;
}

}  // namespace tidemark::viewer
