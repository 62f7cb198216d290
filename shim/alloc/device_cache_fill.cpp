// DeviceCache: what blocks contain (Fill). A block is filled while nobody can have it: after it has left the free
// blocks and before the program hears of it, or after its fence and before it is free.
#include "shim/alloc/device_cache.hpp"

namespace tidemark::alloc {

// Where it can't be done now (a capture, a host function, a driver that has gone), the contents stay as they are.
void DeviceCache::fill(ContextId context, DevicePtr ptr, Bytes size, unsigned char value) noexcept {
  if (!upstream_.may_make_helper_calls()) {
    return;
  }
  const std::uint64_t begin_ns = clock_.monotonic_ns();
  const Status filled = upstream_.fill(context, ptr, size, value);
  const std::uint64_t end_ns = clock_.monotonic_ns();

  const DeviceLockGuard guard(lock_);
  books_.stats().count(BasisWord::driver_ns, elapsed_ns(begin_ns, end_ns));
  // A fill that began and failed may still write. Such an error stays, and the context's blocks are not used again.
  if (!filled.ok() && filled.error().code == ErrorCode::DriverFailure) {
    poison(context);
  }
  publish();
}

// Just handed out, and not yet known to the program.
void DeviceCache::zero(ContextId context, DevicePtr ptr, Bytes requested) noexcept {
  const std::optional<BlockInfo> block = find(ptr);
  fill(context, ptr, block ? block->block_size : requested, 0);
}

// A strict free whose block is filled before it is free. The lock is held on entry, released on return.
Status DeviceCache::release_poisoned(BlockIndex index, ContextId context) noexcept {
  Block& block = books_.block(index);
  block.in_fence = true;
  const DevicePtr ptr{block.address};
  const Bytes size{block.size};
  const std::uint64_t order = books_.newest_free();
  lock_.unlock();

  Status done = Error{ErrorCode::Busy};
  std::uint64_t waited_ns = 0;
  if (upstream_.may_make_helper_calls()) {
    const std::uint64_t begin_ns = clock_.monotonic_ns();
    done = upstream_.wait_for_all_work(context);
    waited_ns = elapsed_ns(begin_ns, clock_.monotonic_ns());
  }
  if (done.ok()) {
    fill(context, ptr, size, kPoison);
  }

  lock_.lock();
  books_.stats().count(BasisWord::free_wait_ns, waited_ns);
  if (done.ok()) {
    pass_gate_poisoned(context, order);  // frees of an earlier capture: this wait covered them
  }
  if (!done.ok() || books_.block(index).state == BlockState::Abandoned) {
    return finish_without_fence(index, context, done);
  }
  LazyTime now{clock_, clock_.monotonic_ns()};
  return complete_free(index, context, order, now);
}

// Whoever is short of memory meanwhile waits for these fills, as for segments on their way to the driver: the program
// has given the blocks up, and they will be free in a moment.
bool DeviceCache::pass_gate_poisoned(ContextId context, std::uint64_t order) noexcept {
  bool passed = false;
  for (;;) {
    Heap* const heap = books_.find_heap(context);
    const BlockIndex index = heap == nullptr ? 0 : books_.take_from_gate(*heap, order);
    if (index == 0) {
      return passed;
    }
    const DevicePtr ptr{books_.block(index).address};
    const Bytes size{books_.block(index).size};
    ++leaving_segments_;
    lock_.unlock();

    fill(context, ptr, size, kPoison);

    lock_.lock();
    --leaving_segments_;
    releases_.fetch_add(1, std::memory_order_relaxed);
    wake_all(releases_);
    if (books_.block(index).state == BlockState::Abandoned) {
      books_.give_back_abandoned(index);
      continue;
    }
    books_.block(index).in_fence = false;
    LazyTime now{clock_};
    books_.finish_free(index, now);
    publish();
    passed = true;
  }
}

}  // namespace tidemark::alloc
