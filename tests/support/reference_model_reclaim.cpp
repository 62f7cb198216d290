// The model's ways back to the driver, and its contexts.
#include "tests/support/reference_model.hpp"

#include <algorithm>

#include "tests/support/test_clock.hpp"

namespace tidemark::test {

using alloc::ContextId;
using Name = ModelStatName;

template <class Choose>
ReferenceModel::GivenBack ReferenceModel::give_back(bool may_wait, Choose choose) {
  GivenBack given;
  while (Segment* segment = choose()) {
    if (!may_wait && !is_known_idle()) {
      given.cut_short = true;
      break;
    }
    Heap& heap = *segment->heap;
    const std::uint64_t size = segment->size;
    const bool is_proved = is_whole(*segment);
    if (!is_proved) {
      let_pass(*segment);
    }
    take_from_bin(segment->blocks.front());
    idle_.remove(segment);
    segment->pinned = segment->pinned || !is_proved;  // whatever the driver says: never handed out
    count_segment_gone(*segment);
    if (const Status released = driver_release(size); !released.ok()) {
      given.status = released;
      heap.segments.splice(
          heap.segments.begin(), heap.segments,
          std::find_if(heap.segments.begin(), heap.segments.end(), [&](Segment& s) { return &s == segment; }));
      count_segment(*segment, true);
      put_in_bin(segment->blocks.front());
      enter_idle(*segment, segment->idle_since_ns);
      if (device.refusing) {
        break;
      }
      poison(heap);
      continue;
    }
    given.bytes += size;
    by_number_.erase(segment->number);
    heap.segments.remove_if([&](const Segment& each) { return &each == segment; });
  }
  return given;
}

// A free waits natively, an allocation doesn't: it gives back only where that is known to be instant.
bool ReferenceModel::is_known_idle() const {
  return device.has_fences && !device.capturing && !device.refusing && !device.broken &&
         device.finished == device.submitted;
}

bool ReferenceModel::is_past_growth_bound(std::uint64_t segment, std::uint64_t block) {
  const std::uint64_t most = std::max(peak_active_ever_, all(Name::ActiveBytes).current + block);
  const std::uint64_t bound = std::max(most + most / policy_.growth_divisor, most + policy_.growth_slack.count());
  return all(Name::ReservedBytes).current + segment > bound;
}

ReferenceModel::GivenBack ReferenceModel::flush() {
  ++words_[BasisWord::sync_all_streams];
  for (Heap& heap : heaps_) {
    if (is_serving(&heap) && !heap.pending.empty() && !device.capturing) {
      (void)wait_for_frees(heap);
    }
  }
  // In a capture nothing may be waited for but a driver's free, which waits itself.
  return give_back(true, [&]() -> Segment* {
    return !idle_.empty() ? idle_.front() : device.capturing ? given_up() : nullptr;
  });
}

bool ReferenceModel::has_more_to_give_back(const GivenBack& last) {
  return !idle_.empty() || (last.bytes != 0 && given_up() != nullptr);
}

bool ReferenceModel::is_vacant(const Segment& segment) const {
  return is_serving(segment.heap) && !segment.passed_through &&
         std::none_of(segment.blocks.begin(), segment.blocks.end(),
                      [](const Block& block) { return block.state == State::Live; });
}

ReferenceModel::Segment* ReferenceModel::given_up() {
  for (const Heap& heap : heaps_) {
    for (const Block* block : heap.pending) {
      if (is_vacant(*block->segment)) {
        return block->segment;
      }
    }
  }
  return nullptr;
}

void ReferenceModel::let_pass(Segment& segment) {
  Heap& heap = *segment.heap;
  const auto is_pending = [](const Block& block) { return block.state == State::Pending; };
  for (auto at = std::find_if(segment.blocks.begin(), segment.blocks.end(), is_pending); at != segment.blocks.end();
       at = std::find_if(segment.blocks.begin(), segment.blocks.end(), is_pending)) {
    heap.pending.remove(&*at);
    finish_free(*at);
  }
  if (heap.pending.empty()) {
    heap.batch_blocks = 0;
    heap.batch_bytes = 0;
  }
}

Result<std::uint64_t> ReferenceModel::empty_cache() {
  if (device.capturing) {
    return Error{ErrorCode::Busy};
  }
  const GivenBack given = flush();
  if (!given.status.ok()) {
    return given.status.error();
  }
  return given.bytes;
}

bool ReferenceModel::make_room(ContextId context, const Request& request) {
  std::uint64_t given = 0;
  if (policy_.garbage_collection_threshold > 0 && limit_) {
    const auto allowed =
        static_cast<std::uint64_t>(policy_.garbage_collection_threshold * static_cast<double>(limit_->count()));
    const std::uint64_t reserved = all(Name::ReservedBytes).current;
    const std::uint64_t target = reserved > allowed ? reserved - allowed : 0;
    while (given < target) {
      const auto age_of = [&](const Segment* segment) {
        return segment->heap->requests[1] - segment->blocks.front().born;
      };
      const auto is_eligible = [&](const Segment* segment) {
        return segment->large && segment->heap->context == context;
      };
      std::uint64_t total = 0;
      std::uint64_t count = 0;
      for (const Segment* segment : idle_) {
        if (is_eligible(segment)) {
          total += age_of(segment);
          ++count;
        }
      }
      const std::uint64_t round = give_back(false, [&]() -> Segment* {
                                    for (Segment* segment : idle_) {
                                      if (is_eligible(segment) && age_of(segment) * count >= total) {
                                        return segment;
                                      }
                                    }
                                    return nullptr;
                                  }).bytes;
      if (round == 0) {
        break;
      }
      given += round;
    }
  }
  if (policy_.growth_gate) {
    const GivenBack more = give_back(false, [&]() -> Segment* {
      return is_past_growth_bound(request.segment, request.block) && !idle_.empty() ? most_dispensable_idle() : nullptr;
    });
    given += more.bytes;
    overgrown_ = overgrown_ || more.cut_short;
    if (more.cut_short) {
      note_size();
    }
  }
  return given != 0;
}

// Of equals the one that has been idle longest.
ReferenceModel::Segment* ReferenceModel::most_dispensable_idle() {
  const auto weight = [](const Segment* segment) {
    const std::uint64_t age = segment->heap->requests[segment->large ? 1 : 0] - segment->blocks.front().born;
    const auto size = static_cast<double>(segment->size);
    return size * size * static_cast<double>(age + 1);
  };
  return *std::max_element(idle_.begin(), idle_.end(),
                           [&](const Segment* a, const Segment* b) { return weight(a) < weight(b); });
}

bool ReferenceModel::give_back_oversize(ContextId context, const Request& request) {
  if (!policy_.max_split_size || !request.large) {
    return false;
  }
  const std::uint64_t wanted = std::max(request.block, policy_.max_split_size->count());
  std::uint64_t chosen = 0;
  const std::uint64_t given =
      give_back(true, [&]() -> Segment* {
        Segment* enough = nullptr;
        Segment* largest = nullptr;
        for (Segment* segment : idle_) {
          if (segment->heap->context != context || !segment->large || !is_oversize(segment->size)) {
            continue;
          }
          if (segment->size >= wanted && (enough == nullptr || segment->size < enough->size)) {
            enough = segment;
          }
          if (largest == nullptr || segment->size > largest->size) {
            largest = segment;
          }
        }
        Segment* next = chosen >= wanted ? nullptr : enough != nullptr ? enough : largest;
        chosen += next == nullptr ? 0 : next->size;
        return next;
      }).bytes;
  return given >= wanted;
}

ReferenceModel::Segment* ReferenceModel::next_to_tidy(bool looks_at_the_time) {
  for (Segment* segment : idle_) {
    if (counting_ || segment->pinned) {
      return segment;
    }
  }
  if (idle_.empty()) {
    return nullptr;
  }
  Segment* oldest = idle_.front();
  const std::uint64_t cached = all(Name::ReservedBytes).current - all(Name::ActiveBytes).current;
  const bool too_much = (policy_.max_cached && cached > policy_.max_cached->count()) ||
                        (limit_ && all(Name::ReservedBytes).current > limit_->count());
  if (!too_much && overgrown_ && is_past_growth_bound(0, 0)) {
    return most_dispensable_idle();
  }
  const bool too_old = looks_at_the_time && policy_.max_idle_ns &&
                       device.now_ns - oldest->idle_since_ns >= *policy_.max_idle_ns &&
                       cached > policy_.idle_floor.count();
  return too_much || too_old ? oldest : nullptr;
}

// A fast free does not read the clock, unless there is something else to do.
void ReferenceModel::tidy(bool may_wait, bool looks_at_the_time) {
  if (device.capturing || (!parked_ && !is_too_large_ && next_to_tidy(looks_at_the_time) == nullptr)) {
    return;
  }
  const std::uint64_t now_ns = device.now_ns;
  const bool serves = std::any_of(heaps_.begin(), heaps_.end(), [this](const Heap& heap) { return is_serving(&heap); });
  if (parked_ && (may_wait || !serves || is_known_idle())) {
    const Status status = flush().status;
    parked_ = !status.ok() && status.error().code == ErrorCode::Refused;
  }
  const GivenBack given = give_back(may_wait, [&] {
    // As of the moment of the call, however long giving back takes.
    const std::uint64_t later_ns = device.now_ns;
    device.now_ns = now_ns;
    Segment* next = next_to_tidy(true);
    device.now_ns = later_ns;
    return next;
  });
  overgrown_ = overgrown_ && (given.cut_short || !given.status.ok());
  note_size();
}

void ReferenceModel::note_size() {
  is_too_large_ = overgrown_ || (limit_ && all(Name::ReservedBytes).current > limit_->count());
}

void ReferenceModel::pin(ModelAddress address) {
  Segment& segment = *by_number_.at(address.segment);
  if (segment.pinned || segment.passed_through) {
    return;
  }
  for (Block& block : segment.blocks) {
    if (block.state == State::Free) {
      take_from_bin(block);
    }
  }
  segment.pinned = true;
}

void ReferenceModel::detach(ContextId context) {
  Heap* heap = find(context);
  if (heap == nullptr) {
    return;
  }
  std::erase_if(idle_, [&](const Segment* segment) { return segment->heap == heap; });
  heap->detached = true;
  heap->fences.clear();
  heap->fenced = 0;
}

void ReferenceModel::reattach(ContextId context) {
  Heap* heap = find(context);
  if (heap == nullptr) {
    return;
  }
  heap->detached = false;
  for (Segment& segment : heap->segments) {
    if (is_whole(segment)) {
      enter_idle(segment, segment.idle_since_ns);
    }
  }
}

void ReferenceModel::forget(ContextId context) {
  Heap* heap = find(context);
  if (heap == nullptr) {
    return;
  }
  for (Segment& segment : heap->segments) {
    for (Block& block : segment.blocks) {
      if (block.state == State::Live) {
        count_free_begun(block);
      }
      if (block.state != State::Free) {
        count_free_done(block);
      } else if (segment.blocks.size() > 1) {
        change(Name::InactiveSplit, segment.large, -1);
        change(Name::InactiveSplitBytes, segment.large, -static_cast<std::int64_t>(block.size));
      }
    }
    count_segment_gone(segment);
    device.used -= segment.size;
    by_number_.erase(segment.number);
  }
  heaps_.remove_if([&](const Heap& each) { return &each == heap; });
}

std::pair<std::uint64_t, std::uint64_t> ReferenceModel::memory_info() {
  const std::uint64_t native = device.capacity - device.used - device.taken;
  words_[BasisWord::driver_free_bytes] = native;
  words_[BasisWord::driver_total_bytes] = device.capacity;
  words_[BasisWord::driver_info_time_ns] = TestClock::kEpoch + device.now_ns;
  std::uint64_t vacant = 0;
  for (const Heap& heap : heaps_) {
    for (const Segment& segment : heap.segments) {
      const bool live = std::any_of(segment.blocks.begin(), segment.blocks.end(),
                                    [](const Block& block) { return block.state == State::Live; });
      vacant += is_serving(&heap) && !segment.passed_through && !live ? segment.size : 0;
    }
  }
  const std::uint64_t reserved = all(Name::ReservedBytes).current;
  const std::uint64_t total = limit_ ? std::min(device.capacity, limit_->count()) : device.capacity;
  std::uint64_t free = native;
  if (limit_) {
    free = std::min(free, limit_->count() > reserved ? limit_->count() - reserved : 0);
  }
  return {std::min(free + vacant, total), total};
}

}  // namespace tidemark::test
