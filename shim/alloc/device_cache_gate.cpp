// DeviceCache: what stands between a free and the next use of its block.
#include "shim/alloc/device_cache.hpp"

namespace tidemark::alloc {

// The lock is held on entry, released on return.
Status DeviceCache::release_passed_through(BlockIndex index, std::optional<StreamHandle> later) noexcept {
  const SegmentIndex retired = books_.block(index).segment;
  const Segment segment = books_.segment(retired);
  // Out of the books before the driver sees the pointer: from that moment another thread can be given the same address.
  books_.retire(retired);
  leaving_bytes_ += segment.size;
  publish();
  lock_.unlock();

  const std::uint64_t begin_ns = clock_.monotonic_ns();
  Status released = (later ? upstream_.release_later(segment.context, DevicePtr{segment.base}, *later)
                           : upstream_.release(segment.context, DevicePtr{segment.base}));
  const std::uint64_t end_ns = clock_.monotonic_ns();

  lock_.lock();
  leaving_bytes_ -= segment.size;
  books_.stats().count(BasisWord::driver_ns, elapsed_ns(begin_ns, end_ns));
  if (released.ok()) {
    books_.stats().count(BasisWord::device_frees);
    books_.bury(retired);
  } else {
    books_.restore(retired, end_ns);
  }
  publish();
  LazyTime now{clock_, end_ns};
  const bool untidy = needs_tidying(now);
  lock_.unlock();
  if (untidy) {
    tidy_up(later ? Wait::NotAllowed : Wait::Allowed);
  }
  return released;
}

// A fast free. The lock is held on entry, released on return.
Status DeviceCache::postpone_free(BlockIndex index, ContextId context, Wait wait) noexcept {
  Heap& heap = books_.heap_of(books_.segment_of(index));
  books_.wait_in_gate(heap, index);
  publish();
  Status fenced;
  if (fences_work_ && heap.gate.is_batch_full()) {
    lock_.unlock();
    fenced = fence_batch(context);
    lock_.lock();
  }
  LazyTime now{clock_};
  const bool untidy = needs_tidying(now);
  lock_.unlock();
  if (untidy) {
    tidy_up(wait);
  }
  return fenced;
}

// And what fences of earlier batches cover passes: a program that nearly always hits would cut up all that is free
// while what would have fitted waits for a miss.
Status DeviceCache::fence_batch(ContextId context) noexcept {
  if (!upstream_.may_make_helper_calls()) {
    return {};
  }
  const Status recorded = record_fence(context);
  if (!recorded.ok()) {
    return recorded;
  }
  const Result<bool> passed = poll_fences(context);
  return passed.ok() ? Status{} : Status{passed.error()};
}

// A strict free whose wait did not happen, failed, or outlived its context. The lock is held on entry, released on
// return.
Status DeviceCache::finish_without_fence(BlockIndex index, ContextId context, const Status& done) noexcept {
  const bool busy = !done.ok() && done.error().code == ErrorCode::Busy;
  if (books_.block(index).state == BlockState::Abandoned) {
    books_.give_back_abandoned(index);
  } else if (done.error().code == ErrorCode::Refused && books_.undo_free(index)) {
    // As natively: the program still has the block.
  } else {
    books_.wait_in_gate(books_.heap_of(books_.segment_of(index)), index);
    if (is_sticky(done.error())) {
      poison(context);
    }
  }
  publish();
  lock_.unlock();
  return busy ? Status{} : done;
}

// What was freed and may pass now, passes. True: something did. An error is the device's own.
// Waits only where frees were promised not to and no fence can tell (DESIGN D5). A strict free has waited; what is left
// here of such frees comes from captures, and can wait for the next free.
Result<bool> DeviceCache::settle(ContextId context) noexcept {
  lock_.lock();
  const Heap* const heap = books_.find_heap(context);
  const bool waits = heap != nullptr && heap->serves() && !heap->gate.empty();
  const bool by_fence = fences_work_;
  const bool may_wait = policy_.free_mode == FreeMode::Fast || postpones_frees_;
  lock_.unlock();
  if (!waits) {
    return false;
  }
  if (by_fence) {
    const Status recorded = record_fence(context);
    if (!recorded.ok()) {
      return recorded.error();
    }
    lock_.lock();
    const bool fences_work = fences_work_;
    lock_.unlock();
    if (fences_work) {
      return poll_fences(context);
    }
  }
  bool passed = false;
  const Status waited = may_wait ? wait_for_frees(context, passed) : Status{};
  return waited.ok() || is_put_off(waited.error()) ? Result<bool>{passed} : waited.error();
}

// Behind all that was freed until now. Success also where there is nothing to do or no way to do it.
Status DeviceCache::record_fence(ContextId context) noexcept {
  lock_.lock();
  const Heap* heap = books_.find_heap(context);
  const bool needed =
      heap != nullptr && heap->serves() && heap->gate.has_unfenced(books_.blocks()) && heap->gate.has_room_for_fence();
  const std::uint64_t order = books_.newest_free();
  lock_.unlock();
  if (!needed) {
    return {};
  }
  const Result<FenceToken> token = upstream_.record_fence(context);
  lock_.lock();
  if (!token.ok()) {
    const ErrorCode code = token.error().code;
    fences_work_ = fences_work_ && code != ErrorCode::Unsupported;
    const bool failed = code != ErrorCode::Unsupported && !is_put_off(token.error());
    if (is_sticky(token.error())) {
      poison(context);
    }
    lock_.unlock();
    return failed ? Status{token.error()} : Status{};
  }
  Heap* const now = books_.find_heap(context);
  const bool kept = now != nullptr && now->serves() && now->gate.has_room_for_fence();
  if (kept) {
    now->gate.add_fence({.token = token.value(), .order = order});
  }
  lock_.unlock();
  if (!kept) {
    upstream_.drop_fence(context, token.value());
  }
  return {};
}

Result<bool> DeviceCache::poll_fences(ContextId context) noexcept {
  bool passed = false;
  for (;;) {
    lock_.lock();
    Heap* heap = books_.find_heap(context);
    const std::optional<ReuseGate::Fence> fence =
        heap == nullptr || !heap->serves() ? std::nullopt : heap->gate.take_fence();
    lock_.unlock();
    if (!fence) {
      return passed;
    }
    const Result<bool> done = upstream_.is_fence_done(context, fence->token);
    LazyTime now{clock_};

    lock_.lock();
    heap = books_.find_heap(context);
    const bool serves = heap != nullptr && heap->serves();
    if (done.ok() && done.value()) {
      if (serves && pass_gate(*heap, fence->order, now)) {
        passed = true;
        publish();
      }
      lock_.unlock();
      continue;
    }
    const bool waits = done.ok() || is_put_off(done.error());
    const bool kept = waits && serves && heap->gate.has_room_for_fence();
    if (kept) {
      heap->gate.add_fence(*fence);
    }
    if (!done.ok() && is_sticky(done.error())) {
      poison(context);
    }
    lock_.unlock();
    if (!kept) {
      upstream_.drop_fence(context, fence->token);
    }
    if (!waits) {
      return done.error();
    }
    return passed;
  }
}

Status DeviceCache::wait_for_frees(ContextId context, bool& passed) noexcept {
  lock_.lock();
  const std::uint64_t order = books_.newest_free();
  lock_.unlock();
  const std::uint64_t begin_ns = clock_.monotonic_ns();
  const Status done = upstream_.wait_for_all_work(context);
  const std::uint64_t end_ns = clock_.monotonic_ns();

  lock_.lock();
  books_.stats().count(BasisWord::free_wait_ns, elapsed_ns(begin_ns, end_ns));
  if (done.ok()) {
    if (Heap* const heap = books_.find_heap(context); heap != nullptr) {
      LazyTime now{clock_, end_ns};
      passed = pass_gate(*heap, order, now);
    }
  } else if (is_sticky(done.error())) {
    poison(context);
  }
  publish();
  lock_.unlock();
  if (done.ok()) {
    drop_stale_fences(context, order);
  }
  return done;
}

void DeviceCache::drop_stale_fences(ContextId context, std::uint64_t order) noexcept {
  for (;;) {
    lock_.lock();
    Heap* const heap = books_.find_heap(context);
    const std::optional<ReuseGate::Fence> fence = heap == nullptr ? std::nullopt : heap->gate.take_stale_fence(order);
    lock_.unlock();
    if (!fence) {
      return;
    }
    upstream_.drop_fence(context, fence->token);
  }
}

// Its device reported an error that stays: from here on the context's requests go to the driver as they are.
void DeviceCache::poison(ContextId context) noexcept {
  if (Heap* const heap = books_.find_heap(context); heap != nullptr) {
    books_.poison(*heap);
    publish_mode();
  }
}

}  // namespace tidemark::alloc
