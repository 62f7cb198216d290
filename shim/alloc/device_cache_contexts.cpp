// DeviceCache: contexts that come and go, and what lies where.
#include <algorithm>

#include "shim/alloc/device_cache.hpp"

namespace tidemark::alloc {

void DeviceCache::detach_context(ContextId context) noexcept {
  lock_.lock();
  Heap* heap = books_.find_heap(context);
  if (heap == nullptr || heap->detached) {
    lock_.unlock();
    return;
  }
  books_.detach(*heap);
  publish();
  lock_.unlock();
  // While the context still exists: a fence cannot outlive it.
  drop_stale_fences(context, ~std::uint64_t{0});
  const DeviceLockGuard guard(lock_);
  heap = books_.find_heap(context);
  if (heap != nullptr) {
    heap->gate.forget_fences();
  }
}

void DeviceCache::reattach(ContextId context) noexcept {
  const DeviceLockGuard guard(lock_);
  if (Heap* const heap = books_.find_heap(context); heap != nullptr && heap->detached) {
    books_.reattach(*heap);
    publish();
  }
}

void DeviceCache::forget_detached(ContextId context) noexcept {
  const DeviceLockGuard guard(lock_);
  if (Heap* const heap = books_.find_heap(context); heap != nullptr && heap->detached) {
    books_.forget(*heap);
    publish_mode();
  }
}

Result<MemoryInfo> DeviceCache::memory_info(ContextId context) noexcept {
  const Result<MemoryInfo> native = upstream_.memory_info(context);
  if (!native.ok()) {
    return native;
  }
  const std::uint64_t now_ns = clock_.realtime_ns();
  const DeviceLockGuard guard(lock_);
  DeviceStats& stats = books_.stats();
  stats.set(BasisWord::driver_free_bytes, native.value().free.count());
  stats.set(BasisWord::driver_total_bytes, native.value().total.count());
  stats.set(BasisWord::driver_info_time_ns, now_ns);
  publish();
  const std::uint64_t reserved = stats.reserved();
  const std::uint64_t left = limit_ > reserved ? limit_ - reserved : 0;
  const std::uint64_t total = std::min(native.value().total.count(), limit_);
  const std::uint64_t free = std::min(native.value().free.count(), left) + books_.vacant_bytes();
  return MemoryInfo{.free = Bytes{std::min(free, total)}, .total = Bytes{total}};
}

std::optional<BlockInfo> DeviceCache::find(DevicePtr ptr) noexcept {
  const DeviceLockGuard guard(lock_);
  const BlockIndex index = books_.block_at(ptr);
  if (index == 0) {
    return std::nullopt;
  }
  const Block& block = books_.block(index);
  const Segment& segment = books_.segment(block.segment);
  const bool live = block.state == BlockState::Live;
  return BlockInfo{.context = segment.context,
                   .segment = DevicePtr{segment.base},
                   .segment_size = Bytes{segment.size},
                   .block = DevicePtr{block.address},
                   .block_size = Bytes{block.size},
                   .requested = Bytes{live ? block.requested : 0},
                   .birth_beat = live ? block.birth_beat : 0,
                   .live = live,
                   .whole_segment = block.size == segment.size,
                   .passed_through = segment.passed_through,
                   .pinned = segment.pinned};
}

Status DeviceCache::pin_segment(DevicePtr ptr) noexcept {
  const DeviceLockGuard guard(lock_);
  const BlockIndex index = books_.block_at(ptr);
  if (index == 0 || books_.segment_of(index).passed_through) {
    return Error{ErrorCode::NotOurs};
  }
  books_.pin(books_.block(index).segment);
  publish();
  return {};
}

}  // namespace tidemark::alloc
