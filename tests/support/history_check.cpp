#include "tests/support/history_check.hpp"

#include <cstdint>
#include <map>

namespace tidemark::test {
namespace {

using history::Action;
using history::BlockState;
using history::Event;

class Replay {
 public:
  std::string start(const history::Device& device) {
    for (const history::Segment& segment : device.segments) {
      if (overlaps(segments_, segment.address, segment.size)) {
        return "segments overlap at " + std::to_string(segment.address);
      }
      segments_[segment.address] = segment.size;
      std::uint64_t at = segment.address;
      for (const history::Block& block : segment.blocks) {
        if (block.address != at) {
          return "blocks don't tile the segment at " + std::to_string(segment.address);
        }
        at += block.size;
        if (block.state == BlockState::Unknown) {
          return "nothing is known of " + std::to_string(block.address);
        }
        if (block.state != BlockState::Inactive) {
          used_[block.address] = block.size;
          is_pending_[block.address] = block.state == BlockState::Pending;
        }
      }
      if (at != segment.address + segment.size) {
        return "blocks don't fill the segment at " + std::to_string(segment.address);
      }
    }
    return {};
  }

  // Requires: of the events not taken back yet, the last one.
  std::string take_back(const Event& event) {
    switch (event.action) {
      case Action::Alloc:
        return take_back_alloc(event);
      case Action::FreeRequested:
        return take_back_request(event);
      case Action::FreeCompleted:
        return take_back_completion(event);
      case Action::SegmentAlloc:
        return take_back_segment(event);
      case Action::SegmentFree:
        if (overlaps(segments_, event.address, event.size)) {
          return "freed, and there is a segment";
        }
        segments_[event.address] = event.size;
        return {};
      default:
        return {};
    }
  }

  [[nodiscard]] std::size_t used() const { return used_.size(); }
  [[nodiscard]] std::size_t segments() const { return segments_.size(); }

 private:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;

  static bool overlaps(const Ranges& ranges, std::uint64_t address, std::uint64_t size) {
    auto next = ranges.lower_bound(address);
    if (next != ranges.end() && next->first < address + size) {
      return true;
    }
    return next != ranges.begin() && (--next, next->first + next->second > address);
  }
  [[nodiscard]] bool is_in_segment(const Event& event) const {
    auto next = segments_.upper_bound(event.address);
    return next != segments_.begin() && (--next, event.address + event.size <= next->first + next->second);
  }

  std::string take_back_alloc(const Event& event) {
    const auto found = used_.find(event.address);
    if (found == used_.end() || found->second != event.size || is_pending_[event.address]) {
      return "handed out, and it is not in use";
    }
    used_.erase(found);
    return is_in_segment(event) ? std::string{} : "handed out from no segment";
  }
  std::string take_back_request(const Event& event) {
    const auto found = used_.find(event.address);
    if (found == used_.end() || found->second != event.size || !is_pending_[event.address]) {
      return "its free was requested, and it is not pending";
    }
    is_pending_[event.address] = false;
    return {};
  }
  std::string take_back_completion(const Event& event) {
    if (overlaps(used_, event.address, event.size)) {
      return "its free was completed, and it is in use";
    }
    used_[event.address] = event.size;
    is_pending_[event.address] = true;
    return is_in_segment(event) ? std::string{} : "freed in no segment";
  }
  std::string take_back_segment(const Event& event) {
    const auto found = segments_.find(event.address);
    if (found == segments_.end() || found->second != event.size) {
      return "allocated, and there is no such segment";
    }
    if (overlaps(used_, event.address, event.size)) {
      return "allocated, and parts of it were in use before";
    }
    segments_.erase(found);
    return {};
  }

  Ranges segments_;
  Ranges used_;
  std::map<std::uint64_t, bool> is_pending_;
};

}  // namespace

std::string what_is_wrong(const history::Device& device) {
  if (device.is_approximate) {
    return "it is approximate";
  }
  Replay replay;
  std::string wrong = replay.start(device);
  std::size_t older = 0;
  for (const history::Segment& segment : device.segments) {
    for (const history::Block& block : segment.blocks) {
      older += block.is_older ? 1 : 0;
    }
  }
  for (auto event = device.events.rbegin(); event != device.events.rend() && wrong.empty(); ++event) {
    wrong = replay.take_back(*event);
    if (!wrong.empty()) {
      return "event " + std::to_string(event->number) + " (" + to_text(event->action) + "): " + wrong;
    }
    const auto next = event + 1;
    if (next != device.events.rend() && next->number + 1 != event->number) {
      return "there is no event between " + std::to_string(next->number) + " and " + std::to_string(event->number);
    }
  }
  if (wrong.empty() && device.events.size() < device.events_ever) {
    return {};  // what was before the ring's first event can't be told
  }
  return wrong.empty() && replay.used() < older ? "older blocks were handed out during the recording" : wrong;
}

std::string what_is_wrong(const history::History& history) {
  for (const history::Device& device : history.devices) {
    if (std::string wrong = what_is_wrong(device); !wrong.empty()) {
      return "device " + std::to_string(device.slot) + ": " + wrong;
    }
  }
  return {};
}

}  // namespace tidemark::test
