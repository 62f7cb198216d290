// The model's allocation, from a hit to out of memory.
#include "tests/support/reference_model.hpp"

#include <algorithm>

#include "tests/support/test_clock.hpp"

namespace tidemark::test {

using alloc::ContextId;
using Name = ModelStatName;

namespace {

bool is_out_of_memory(const Result<ModelAddress>& result) {
  return !result.ok() && result.error().code == ErrorCode::OutOfMemory;
}

}  // namespace

Result<ModelAddress> ReferenceModel::allocate(ContextId context, std::uint64_t requested) {
  fresh_ = false;
  Result<ModelAddress> made = find_or_make(context, classify(requested));
  if (made.ok() && policy_.fill == alloc::Fill::Zero) {
    driver_fill(heap_for(context));
  }
  return made;
}

Result<ModelAddress> ReferenceModel::find_or_make(ContextId context, const Request& request) {
  Heap* heap = find(context);
  if (heap != nullptr) {
    ++heap->requests[request.large ? 1 : 0];
  }
  const bool may_cache = !counting_ && (sharing_ || !request.shared);
  if (may_cache && !parked_ && policy_.fill != alloc::Fill::Zero) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
  }
  tidy(false);
  if (heap != nullptr && heap->detached) {
    return Error{ErrorCode::NotOurs};
  }
  if (!may_cache || (heap != nullptr && heap->poisoned)) {
    return pass_through_or_make_room(context, request);
  }
  if (const auto hit = search(context, request)) {
    return *hit;
  }
  if (device.capturing) {
    return pass_through_or_make_room(context, request);
  }
  const Result<bool> settled = settle(context);
  if (!settled.ok()) {
    return settled.error();
  }
  if (settled.value()) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
  }
  if (make_room(context, request)) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
  }
  Result<ModelAddress> fresh = grow(context, request);
  if (!is_out_of_memory(fresh)) {
    return fresh;
  }
  if (give_back_oversize(context, request)) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
    fresh = grow(context, request);
    if (!is_out_of_memory(fresh)) {
      return fresh;
    }
  }
  ++words_[BasisWord::alloc_retries];
  for (bool again = true; again;) {
    const GivenBack flushed = flush();
    if (const auto hit = search(context, request)) {
      return *hit;
    }
    fresh = grow(context, request);
    if (is_out_of_memory(fresh) && request.requested != request.segment) {
      fresh = pass_through(context, request);
    }
    if (!is_out_of_memory(fresh)) {
      return fresh;
    }
    again = flushed.status.ok() && has_more_to_give_back(flushed);
  }
  return fail(context, request, fresh.error());
}

Result<ModelAddress> ReferenceModel::pass_through_or_make_room(ContextId context, const Request& request) {
  Result<ModelAddress> native = pass_through(context, request);
  const bool has_room =
      std::any_of(by_number_.begin(), by_number_.end(), [this](const auto& known) { return is_vacant(*known.second); });
  if (is_out_of_memory(native) && has_room) {
    ++words_[BasisWord::alloc_retries];
    for (bool again = true; again;) {
      const GivenBack flushed = flush();
      native = pass_through(context, request);
      again = is_out_of_memory(native) && flushed.status.ok() && has_more_to_give_back(flushed);
    }
  }
  return is_out_of_memory(native) ? fail(context, request, native.error()) : native;
}

Result<ModelAddress> ReferenceModel::grow(ContextId context, const Request& request) {
  if (!fits_limit(request.segment)) {
    return Error{ErrorCode::OutOfMemory};
  }
  if (const Status asked = driver_allocate(request.segment); !asked.ok()) {
    return asked.error();
  }
  ++words_[BasisWord::misses];
  Heap& heap = heap_for(context);
  Segment& segment = add_segment(heap, request, request.segment, false);
  put_in_bin(segment.blocks.front());
  hand_out(segment.blocks.front(), request);
  return ModelAddress{segment.number, 0};
}

Result<ModelAddress> ReferenceModel::pass_through(ContextId context, const Request& request) {
  if (!fits_limit(request.requested)) {
    return Error{ErrorCode::OutOfMemory};
  }
  if (const Status asked = driver_allocate(request.requested); !asked.ok()) {
    return asked.error();
  }
  ++words_[BasisWord::passed_through];
  Heap& heap = heap_for(context);
  Segment& segment = add_segment(heap, request, request.requested, true);
  hand_out(segment.blocks.front(), request);
  return ModelAddress{segment.number, 0};
}

Result<ModelAddress> ReferenceModel::fail(ContextId context, const Request& request, Error error) {
  ++words_[BasisWord::ooms];
  ++words_[BasisWord::oom_count_lifetime];
  words_[BasisWord::limit_rejections_lifetime] += std::uint64_t{!fits_limit(request.requested)};
  words_[BasisWord::oom_time_ns] = TestClock::kEpoch + device.now_ns;
  words_[BasisWord::oom_requested_bytes] = request.requested;
  words_[BasisWord::oom_allocated_bytes] = all(Name::AllocatedBytes).current;
  words_[BasisWord::oom_reserved_bytes] = all(Name::ReservedBytes).current;
  words_[BasisWord::oom_held_bytes] = held_.current;
  const bool asked = !device.capturing && !device.refusing && !device.broken;
  words_[BasisWord::oom_device_free_bytes] = asked ? device.capacity - device.used - device.taken : 0;
  words_[BasisWord::oom_device_total_bytes] = asked ? device.capacity : 0;
  words_[BasisWord::oom_largest_free_block_bytes] = largest_free_block(find(context));
  return error;
}

std::uint64_t ReferenceModel::largest_free_block(const Heap* heap) const {
  std::uint64_t largest = 0;
  if (heap == nullptr) {
    return largest;
  }
  for (const Segment& segment : heap->segments) {
    for (const Block& block : segment.blocks) {
      if (block.state == State::Free && !segment.pinned) {
        largest = std::max(largest, block.size);
      }
    }
  }
  return largest;
}

}  // namespace tidemark::test
