// DeviceCache::allocate beyond a hit: pending frees, growing, pass-through, and the out-of-memory ladder.
// Each step takes the lock for itself; whatever happened while a step waited, the next search sees it.
#include <algorithm>

#include "shim/alloc/device_cache.hpp"

namespace tidemark::alloc {

namespace {

bool is_out_of_memory(const Result<DevicePtr>& result) {
  return !result.ok() && result.error().code == ErrorCode::OutOfMemory;
}

}  // namespace

Result<DevicePtr> DeviceCache::allocate_slowly(ContextId context, const Request& request) noexcept {
  tidy_up(Wait::NotAllowed);
  Result<DevicePtr> ptr = find_or_make(context, request);
  if (ptr.ok() && policy_.fill == Fill::Zero) {
    zero(context, ptr.value(), Bytes{request.requested});
  }
  return ptr;
}

Result<DevicePtr> DeviceCache::find_or_make(ContextId context, const Request& request) noexcept {
  switch (route_of(context, request)) {
    case Route::Forwarded:
      return Error{ErrorCode::NotOurs};
    case Route::PassedThrough:
      return pass_through_or_make_room(context, request);
    case Route::Cached:
      break;
  }
  if (const auto hit = search(context, request)) {
    return *hit;
  }
  if (!upstream_.may_make_helper_calls()) {
    // The driver gets what the program asked for, so that the capture sees what it would have seen.
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
  if (make_room_to_grow(context, request)) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
  }
  Result<DevicePtr> fresh = grow(context, request);
  return is_out_of_memory(fresh) ? climb_out_of_memory(context, request, fresh.error()) : fresh;
}

DeviceCache::Route DeviceCache::route_of(ContextId context, const Request& request) noexcept {
  const DeviceLockGuard guard(lock_);
  const Heap* const heap = books_.find_heap(context);
  if ((attention_ & kNotEnrolled) != 0 || (heap != nullptr && heap->detached)) {
    return Route::Forwarded;
  }
  const bool caches = (attention_ & kNotCaching) == 0 && !(request.shared && (attention_ & kNoSharing) != 0) &&
                      (heap == nullptr || !heap->poisoned);
  return caches ? Route::Cached : Route::PassedThrough;
}

std::optional<DevicePtr> DeviceCache::search(ContextId context, const Request& request) noexcept {
  const DeviceLockGuard guard(lock_);
  Heap* const heap = books_.find_heap(context);
  if (heap == nullptr || !heap->serves()) {
    return std::nullopt;
  }
  const BlockIndex block = books_.take(*heap, request);
  if (block == 0) {
    return std::nullopt;
  }
  publish();
  return DevicePtr{books_.block(block).address};
}

bool DeviceCache::fits_limit(std::uint64_t size) noexcept {
  const std::uint64_t taken = books_.stats().reserved() + committed_bytes_ + leaving_bytes_;
  return taken <= limit_ && size <= limit_ - taken;
}

// Reserve, then commit: two threads that miss at once see each other, and so does memory on its way back to the driver.
bool DeviceCache::commit(std::uint64_t size) noexcept {
  const DeviceLockGuard guard(lock_);
  if (!fits_limit(size)) {
    return false;
  }
  committed_bytes_ += size;
  return true;
}

Result<DevicePtr> DeviceCache::grow(ContextId context, const Request& request) noexcept {
  if (!commit(request.segment)) {
    return Error{ErrorCode::OutOfMemory};
  }
  const std::uint64_t begin_ns = clock_.monotonic_ns();
  Result<DevicePtr> base = upstream_.allocate(context, Bytes{request.segment});
  const std::uint64_t end_ns = clock_.monotonic_ns();

  lock_.lock();
  committed_bytes_ -= request.segment;
  DeviceStats& stats = books_.stats();
  stats.count(BasisWord::driver_ns, elapsed_ns(begin_ns, end_ns));
  if (!base.ok()) {
    publish();
    lock_.unlock();
    return base;
  }
  Heap* const heap = books_.heap_for(context);
  const BlockIndex block = heap == nullptr ? 0 : books_.add_segment(*heap, request, base.value());
  if (block == 0) {
    // No host memory for a record: the program gets memory that we don't know, in the size it asked for.
    lock_.unlock();
    (void)upstream_.release(context, base.value());
    return upstream_.allocate(context, Bytes{request.requested});
  }
  stats.count(BasisWord::device_allocs);
  stats.count(BasisWord::misses);
  publish();
  lock_.unlock();
  return base;
}

// More than any device has: the driver shall say so.
Result<DevicePtr> DeviceCache::allocate_absurd(ContextId context, Bytes requested) noexcept {
  Result<DevicePtr> unlikely = upstream_.allocate(context, requested);
  if (unlikely.ok()) {
    adopt_pass_through(context, unlikely.value(), requested);
  }
  return unlikely;
}

// Exactly the program's size, booked as a segment of its own.
Result<DevicePtr> DeviceCache::pass_through(ContextId context, const Request& request) noexcept {
  if (!commit(request.requested)) {
    return Error{ErrorCode::OutOfMemory};
  }
  const std::uint64_t begin_ns = clock_.monotonic_ns();
  Result<DevicePtr> base = upstream_.allocate(context, Bytes{request.requested});
  const std::uint64_t end_ns = clock_.monotonic_ns();

  const DeviceLockGuard guard(lock_);
  committed_bytes_ -= request.requested;
  DeviceStats& stats = books_.stats();
  stats.count(BasisWord::driver_ns, elapsed_ns(begin_ns, end_ns));
  if (base.ok()) {
    Heap* const heap = books_.heap_for(context);
    if (heap != nullptr && books_.add_pass_through(*heap, request, base.value()) != 0) {
      stats.count(BasisWord::device_allocs);
      stats.count(BasisWord::passed_through);
    }
  }
  publish();
  return base;
}

bool DeviceCache::adopt_pass_through(ContextId context, DevicePtr ptr, Bytes size) noexcept {
  Request request = sizes_.classify(std::min(size.count(), kAbsurdSize - 1));
  request.requested = size.count();
  {
    const DeviceLockGuard guard(lock_);
    Heap* const heap = books_.heap_for(context);
    if ((attention_ & kNotEnrolled) != 0 || heap == nullptr || books_.add_pass_through(*heap, request, ptr) == 0) {
      return false;
    }
    books_.stats().count(BasisWord::device_allocs);
    books_.stats().count(BasisWord::passed_through);
    publish();
  }
  if (policy_.fill == Fill::Zero) {
    fill(context, ptr, size, 0);
  }
  return true;
}

Status DeviceCache::adopt_within_limit(ContextId context, DevicePtr ptr, Bytes size) noexcept {
  if (!commit(size.count()) && !(make_room() && commit(size.count()))) {
    Request request = sizes_.classify(std::min(size.count(), kAbsurdSize - 1));
    request.requested = size.count();
    return fail(context, request, Error{ErrorCode::OutOfMemory}).error();
  }
  const bool is_adopted = adopt_pass_through(context, ptr, size);
  const DeviceLockGuard guard(lock_);
  committed_bytes_ -= size.count();
  return is_adopted ? Status{} : Status{Error{ErrorCode::NotOurs}};
}

// Nothing is cached now, but something may be held from before the mode changed, or the capture began.
Result<DevicePtr> DeviceCache::pass_through_or_make_room(ContextId context, const Request& request) noexcept {
  Result<DevicePtr> native = pass_through(context, request);
  if (!is_out_of_memory(native)) {
    return native;
  }
  if (may_have_something_to_give_back()) {
    {
      const DeviceLockGuard guard(lock_);
      books_.stats().count(BasisWord::alloc_retries);
    }
    GivenBack given;
    do {
      given = flush();
      native = pass_through(context, request);
      // What the driver doesn't take back now it will not in the next round either.
    } while (is_out_of_memory(native) && given.status.ok() && has_more_to_give_back(given));
  }
  return is_out_of_memory(native) ? fail(context, request, native.error()) : native;
}

Result<DevicePtr> DeviceCache::climb_out_of_memory(ContextId context, const Request& request, Error error) noexcept {
  if (give_back_oversize(context, request)) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
    if (Result<DevicePtr> fresh = grow(context, request); !is_out_of_memory(fresh)) {
      return fresh;
    }
  }
  {
    const DeviceLockGuard guard(lock_);
    books_.stats().count(BasisWord::alloc_retries);
  }
  GivenBack given;
  do {
    given = flush();
    if (const auto hit = search(context, request)) {
      return *hit;
    }
    Result<DevicePtr> fresh = grow(context, request);
    if (is_out_of_memory(fresh) && request.requested != request.segment) {
      // A small request shall not fail for want of a whole segment.
      fresh = pass_through(context, request);
    }
    if (!is_out_of_memory(fresh)) {
      return fresh;
    }
    error = fresh.error();
    // Another thread freed something meanwhile: it could be enough. Not where the driver refuses a free: another round
    // would change nothing, for ever.
  } while (given.status.ok() && has_more_to_give_back(given));
  if (const auto hit = search(context, request)) {
    return *hit;
  }
  return fail(context, request, error);
}

Result<DevicePtr> DeviceCache::fail(ContextId context, const Request& request, Error error) noexcept {
  OutOfMemoryRecord record;
  record.context = context;
  record.requested = Bytes{request.requested};
  record.time_ns = clock_.realtime_ns();
  if (upstream_.may_make_helper_calls()) {
    if (const Result<MemoryInfo> info = upstream_.memory_info(context); info.ok()) {
      record.device_free = info.value().free;
      record.device_total = info.value().total;
    }
  }
  {
    const DeviceLockGuard guard(lock_);
    DeviceStats& stats = books_.stats();
    record.allocated = Bytes{stats.live()};
    record.reserved = Bytes{stats.reserved()};
    record.held = Bytes{stats.basis()[BasisWord::held_bytes]};
    if (const Heap* heap = books_.find_heap(context); heap != nullptr) {
      record.largest_free_block = Bytes{std::max(heap->free_in(Pool::Small).largest(books_.blocks()),
                                                 heap->free_in(Pool::Large).largest(books_.blocks()))};
    }
    record.is_above_limit = !fits_limit(request.requested);
    stats.count(BasisWord::ooms);
    stats.set_out_of_memory(record);
    books_.note_out_of_memory(request.block, request.requested, record.device_free.count());
    publish();
  }
  if (OutOfMemoryObserver* observer = observer_.load(std::memory_order_acquire); observer != nullptr) {
    observer->out_of_memory(record);
  }
  return error;
}

}  // namespace tidemark::alloc
