// DeviceCache: memory on its way back to the driver, asked for by the program, by an empty device, or by the policy.
#include <algorithm>

#include "shim/alloc/device_cache.hpp"

namespace tidemark::alloc {

// One segment at a time, chosen under the lock, so that other threads can still have the rest meanwhile. `choose` says
// 0 to end.
template <class Choose>
DeviceCache::GivenBack DeviceCache::give_back(Wait wait, Choose&& choose) noexcept {
  GivenBack given;
  bool asked = false;
  ContextId idle{};
  lock_.lock();
  while (const SegmentIndex retired = choose()) {
    if (const ContextId context = books_.segment(retired).context;
        wait == Wait::NotAllowed && (!asked || idle != context)) {
      lock_.unlock();
      given.cut_short = !is_idle(context);
      lock_.lock();
      if (given.cut_short) {
        break;
      }
      asked = true;
      idle = context;
      continue;  // the choice may be another one by now
    }
    asked = false;
    if (books_.segment(retired).idle) {
      books_.retire(retired);
    } else {
      LazyTime now{clock_};
      books_.retire_given_up(retired, now);
    }
    const Segment segment = books_.segment(retired);
    leaving_bytes_ += segment.size;
    ++leaving_segments_;
    publish();
    lock_.unlock();

    const std::uint64_t begin_ns = clock_.monotonic_ns();
    Status released = upstream_.release_idle(segment.context, DevicePtr{segment.base});
    const std::uint64_t end_ns = clock_.monotonic_ns();

    lock_.lock();
    leaving_bytes_ -= segment.size;
    --leaving_segments_;
    releases_.fetch_add(1, std::memory_order_relaxed);
    wake_all(releases_);
    books_.stats().count(BasisWord::driver_ns, elapsed_ns(begin_ns, end_ns));
    if (released.ok()) {
      books_.stats().count(BasisWord::device_frees);
      books_.bury(retired);
      given.bytes += segment.size;
      continue;
    }
    books_.restore(retired, segment.idle_since_ns);
    given.status = released;
    if (!is_sticky(released.error())) {
      break;
    }
    // Not again: a driver that refuses memory it gave us is in no state to be asked for more.
    poison(segment.context);
  }
  publish();
  lock_.unlock();
  return given;
}

// What is idle now, not what becomes so meanwhile: another thread that frees and takes shall not keep us here.
DeviceCache::GivenBack DeviceCache::give_back_idle(std::uint64_t unproved) noexcept {
  const std::uint64_t now_ns = clock_.monotonic_ns();
  return give_back(Wait::Allowed, [&]() TIDEMARK_REQUIRES(lock_) -> SegmentIndex {
    const SegmentIndex oldest = books_.oldest_idle();
    return oldest != 0 && books_.segment(oldest).idle_since_ns <= now_ns ? oldest : books_.given_up(unproved);
  });
}

// Every free so far has passed and every idle segment is back at the driver, also those that other threads are just
// returning. A capture forbids the wait, so what it keeps from passing goes back unproved: as natively, the driver's
// free is all the fence there is.
DeviceCache::GivenBack DeviceCache::flush() noexcept {
  lock_.lock();
  books_.stats().count(BasisWord::sync_all_streams);
  const std::uint64_t order = books_.newest_free();
  lock_.unlock();
  // No optional: g++ 12 takes it for uninitialised under -fsanitize=thread.
  ContextId context{};
  bool waits = false;
  bool captures = false;
  do {
    lock_.lock();
    Heap* heap = books_.next_heap(waits ? books_.find_heap(context) : nullptr);
    for (waits = false; heap != nullptr && !waits; heap = books_.next_heap(heap)) {
      waits = heap->serves() && !heap->gate.empty() && heap->gate.oldest_free(books_.blocks()) <= order;
      context = heap->context;
    }
    lock_.unlock();
    if (waits) {
      bool passed = false;
      const Status waited =
          upstream_.may_make_helper_calls() ? wait_for_frees(context, passed) : Status{Error{ErrorCode::Busy}};
      captures = captures || (!waited.ok() && waited.error().code == ErrorCode::Busy);
    }
  } while (waits);
  GivenBack given = give_back_idle(captures ? order : 0);
  given.waited = wait_for_releases();
  return given;
}

// True: there were some. Those that begin later are not waited for.
bool DeviceCache::wait_for_releases() noexcept {
  lock_.lock();
  const std::uint32_t begun = leaving_segments_;
  const std::uint32_t target = releases_.load(std::memory_order_relaxed) + begun;
  while (leaving_segments_ != 0) {
    const std::uint32_t seen = releases_.load(std::memory_order_relaxed);
    if (static_cast<std::int32_t>(seen - target) >= 0) {
      break;
    }
    lock_.unlock();
    wait_while_equal(releases_, seen);
    lock_.lock();
  }
  lock_.unlock();
  return begun != 0;
}

bool DeviceCache::may_have_something_to_give_back() noexcept {
  const DeviceLockGuard guard(lock_);
  return books_.vacant_bytes() != 0 || leaving_segments_ != 0;
}

// What waits for the device counts only after a round that got somewhere: in a host function none ever does.
bool DeviceCache::has_more_to_give_back(const GivenBack& last) noexcept {
  const DeviceLockGuard guard(lock_);
  return books_.oldest_idle() != 0 || leaving_segments_ != 0 ||
         (last.bytes != 0 && books_.given_up(books_.newest_free()) != 0);
}

bool DeviceCache::has_cached() noexcept {
  const DeviceLockGuard guard(lock_);
  const DeviceStats& stats = books_.stats();
  return stats.reserved() != stats.live() || leaving_segments_ != 0;
}

Result<Bytes> DeviceCache::empty_cache() noexcept {
  if (!upstream_.may_make_helper_calls()) {
    return Error{ErrorCode::Busy};
  }
  const GivenBack given = flush();
  if (!given.status.ok()) {
    return given.status.error();
  }
  return Bytes{given.bytes};
}

bool DeviceCache::make_room() noexcept {
  const GivenBack given = may_have_something_to_give_back() ? flush() : GivenBack{};
  return given.bytes != 0 || given.waited;
}

std::uint64_t DeviceCache::park_empty_cache() noexcept {
  const DeviceLockGuard guard(lock_);
  attention_ |= kParked;
  return ++parked_tickets_;
}

bool DeviceCache::is_done(std::uint64_t ticket) const noexcept {
  return done_tickets_.load(std::memory_order_acquire) >= ticket;
}

// By policy

bool DeviceCache::is_idle(ContextId context) noexcept {
  const Result<FenceToken> fence = upstream_.record_fence(context);
  if (!fence.ok()) {
    return false;
  }
  const Result<bool> done = upstream_.is_fence_done(context, fence.value());
  const bool idle = done.ok() && done.value();
  if (!idle) {
    upstream_.drop_fence(context, fence.value());
  }
  return idle;
}

bool DeviceCache::is_idle_everywhere() noexcept {
  std::optional<ContextId> asked;
  do {
    lock_.lock();
    Heap* heap = books_.next_heap(asked ? books_.find_heap(*asked) : nullptr);
    while (heap != nullptr && !heap->serves()) {
      heap = books_.next_heap(heap);
    }
    asked = heap == nullptr ? std::nullopt : std::optional{heap->context};
    lock_.unlock();
    if (asked && !is_idle(*asked)) {
      return false;
    }
  } while (asked);
  return true;
}

bool DeviceCache::is_past_growth_bound(const Request* request) noexcept {
  const DeviceStats& stats = books_.stats();
  const std::uint64_t reserved = stats.reserved() + (request == nullptr ? 0 : request->segment);
  const std::uint64_t active = stats.active() + (request == nullptr ? 0 : request->block);
  const std::uint64_t most = std::max(stats.lifetime_peak_active(), active);
  return reserved > most + std::max(most / policy_.growth_divisor, policy_.growth_slack.count());
}

// Whether the next free has to look.
void DeviceCache::note_size() noexcept {
  const std::uint64_t taken = books_.stats().reserved() + committed_bytes_ + leaving_bytes_;
  const bool too_large = overgrown_ || taken > limit_;
  attention_ = too_large ? attention_ | kTooLarge : attention_ & ~std::uint32_t{kTooLarge};
}

bool DeviceCache::make_room_to_grow(ContextId context, const Request& request) noexcept {
  bool freed = collect_garbage(context);
  if (policy_.growth_gate) {
    const GivenBack given = give_back(Wait::NotAllowed, [&]() TIDEMARK_REQUIRES(lock_) -> SegmentIndex {
      return is_past_growth_bound(&request) ? books_.most_dispensable_idle() : 0;
    });
    freed = freed || given.bytes != 0;
    if (given.cut_short) {
      const DeviceLockGuard guard(lock_);
      overgrown_ = true;
      note_size();
    }
  }
  return freed;
}

// PyTorch's garbage_collection_threshold: above that share of the limit, idle large segments of at least average age go
// back, again and again until there is room enough or nothing is left.
bool DeviceCache::collect_garbage(ContextId context) noexcept {
  std::uint64_t target = 0;
  {
    const DeviceLockGuard guard(lock_);
    if (policy_.garbage_collection_threshold <= 0.0 || books_.stats().basis()[BasisWord::limit_bytes] == 0) {
      return false;
    }
    const auto allowed = static_cast<std::uint64_t>(policy_.garbage_collection_threshold * static_cast<double>(limit_));
    const std::uint64_t reserved = books_.stats().reserved();
    target = reserved > allowed ? reserved - allowed : 0;
  }
  std::uint64_t freed = 0;
  while (freed < target) {
    std::uint64_t total_age = 0;
    std::uint64_t count = 0;
    const auto age_if_eligible = [&](SegmentIndex index) TIDEMARK_REQUIRES(lock_) -> std::optional<std::uint64_t> {
      const Segment& segment = books_.segment(index);
      if (segment.pool != Pool::Large || segment.context != context) {
        return std::nullopt;
      }
      const Heap& heap = books_.heap_of(segment);
      return heap.requests[static_cast<unsigned>(Pool::Large)] - books_.block(segment.first_block).order;
    };
    {
      const DeviceLockGuard guard(lock_);
      for (SegmentIndex index = books_.oldest_idle(); index != 0; index = books_.segment(index).idle_after) {
        if (const auto age = age_if_eligible(index)) {
          total_age += *age;
          ++count;
        }
      }
    }
    const GivenBack given = give_back(Wait::NotAllowed, [&]() TIDEMARK_REQUIRES(lock_) -> SegmentIndex {
      SegmentIndex index = books_.oldest_idle();
      for (; index != 0; index = books_.segment(index).idle_after) {
        if (const auto age = age_if_eligible(index); age && *age * count >= total_age) {
          break;
        }
      }
      return index;
    });
    if (given.bytes == 0) {
      break;
    }
    freed += given.bytes;
  }
  return freed != 0;
}

// With max_split_size set, one cached block from that size on that is large enough goes back, else as many as are
// needed from the largest down.
bool DeviceCache::give_back_oversize(ContextId context, const Request& request) noexcept {
  if (!sizes_.limits_splitting() || request.pool != Pool::Large) {
    return false;
  }
  const std::uint64_t wanted = std::max(request.block, sizes_.max_split());
  std::uint64_t chosen = 0;
  const GivenBack given = give_back(Wait::Allowed, [&]() TIDEMARK_REQUIRES(lock_) -> SegmentIndex {
    if (chosen >= wanted) {
      return 0;
    }
    SegmentIndex enough = 0;
    SegmentIndex largest = 0;
    for (SegmentIndex index = books_.oldest_idle(); index != 0; index = books_.segment(index).idle_after) {
      const Segment& segment = books_.segment(index);
      if (segment.context != context || segment.pool != Pool::Large || !sizes_.is_oversize(segment.size)) {
        continue;
      }
      if (segment.size >= wanted && (enough == 0 || segment.size < books_.segment(enough).size)) {
        enough = index;
      }
      if (largest == 0 || segment.size > books_.segment(largest).size) {
        largest = index;
      }
    }
    const SegmentIndex next = enough != 0 ? enough : largest;
    chosen += next == 0 ? 0 : books_.segment(next).size;
    return next;
  });
  return given.bytes >= wanted;
}

SegmentIndex DeviceCache::next_to_tidy(LazyTime& now) noexcept {
  if (books_.has_doomed_idle()) {
    return books_.doomed_idle();
  }
  const SegmentIndex oldest = books_.oldest_idle();
  if (oldest == 0) {
    return 0;
  }
  const std::uint64_t cached = books_.stats().cached();
  if (cached > max_cached_ || books_.stats().reserved() > limit_) {
    return oldest;
  }
  if (overgrown_ && is_past_growth_bound(nullptr)) {
    return books_.most_dispensable_idle();
  }
  const bool expired = now.is_known() && cached > policy_.idle_floor.count() &&
                       elapsed_ns(books_.segment(oldest).idle_since_ns, now.ns()) >= max_idle_ns_;
  return expired ? oldest : 0;
}

// What earlier calls left to do: a parked empty-cache, segments that are not to be kept, too much or too old a cache.
void DeviceCache::tidy_up(Wait wait) noexcept {
  LazyTime now{clock_, clock_.monotonic_ns()};
  lock_.lock();
  const bool untidy = needs_tidying(now);
  const std::uint64_t ticket = (attention_ & kParked) != 0 ? parked_tickets_ : 0;
  lock_.unlock();
  if (!untidy || !upstream_.may_make_helper_calls()) {
    return;
  }
  if (ticket != 0 && (wait == Wait::Allowed || is_idle_everywhere())) {
    const GivenBack given = flush();
    const DeviceLockGuard guard(lock_);
    // A capture that began meanwhile cut it short: the next call goes on. Two threads may get here in either order.
    const bool cut_short = !given.status.ok() && is_put_off(given.status.error());
    if (!cut_short && done_tickets_.load(std::memory_order_relaxed) < ticket) {
      done_tickets_.store(ticket, std::memory_order_release);
      if (parked_tickets_ == ticket) {
        attention_ &= ~std::uint32_t{kParked};
      }
    }
  }
  const GivenBack given = give_back(wait, [&]() TIDEMARK_REQUIRES(lock_) { return next_to_tidy(now); });
  const DeviceLockGuard guard(lock_);
  overgrown_ = overgrown_ && (given.cut_short || !given.status.ok());
  note_size();
}

}  // namespace tidemark::alloc
