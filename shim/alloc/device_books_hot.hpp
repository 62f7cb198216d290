// The steps of a hit and of a free, inline: they are the allocator's speed. Part of device_books.hpp.
#pragma once

#include "shim/alloc/device_books.hpp"

namespace tidemark::alloc {

inline bool DeviceBooks::is_vacant(const Segment& segment) const noexcept {
  if (segment.live_blocks != 0 || segment.passed_through) {
    return false;
  }
  const Heap& heap = heaps_[segment.heap];
  return !heap.detached && !heap.poisoned;
}

inline void DeviceBooks::enter_idle(SegmentIndex index, std::uint64_t now_ns) noexcept {
  Segment& segment = segments_[index];
  const Heap& heap = heaps_[segment.heap];
  if (heap.detached || heap.poisoned) {
    return;
  }
  segment.idle = true;
  pinned_idle_ += segment.pinned ? 1 : 0;
  segment.idle_since_ns = now_ns;
  // Nearly always the newest of all; a segment that comes back from a failed call finds its old place.
  SegmentIndex before = newest_idle_;
  while (before != 0 && segments_[before].idle_since_ns > now_ns) {
    before = segments_[before].idle_before;
  }
  const SegmentIndex after = before == 0 ? oldest_idle_ : segments_[before].idle_after;
  segment.idle_before = before;
  segment.idle_after = after;
  (before == 0 ? oldest_idle_ : segments_[before].idle_after) = index;
  (after == 0 ? newest_idle_ : segments_[after].idle_before) = index;
}

inline void DeviceBooks::leave_idle(SegmentIndex index) noexcept {
  Segment& segment = segments_[index];
  segment.idle = false;
  pinned_idle_ -= segment.pinned ? 1 : 0;
  (segment.idle_before == 0 ? oldest_idle_ : segments_[segment.idle_before].idle_after) = segment.idle_after;
  (segment.idle_after == 0 ? newest_idle_ : segments_[segment.idle_after].idle_before) = segment.idle_before;
}

inline BlockIndex DeviceBooks::take(Heap& heap, const Request& request) noexcept {
  const BlockIndex index = heap.free_in(request.pool).find(blocks_, request.block, request.most);
  return index == 0 || !reserve() ? 0 : carve(heap, index, request);
}

// Requires: reserve(), and the block is free and in its index. The front is handed out; the rest stays what it was.
inline BlockIndex DeviceBooks::carve(Heap& heap, BlockIndex index, const Request& request) noexcept {
  FreeIndex& free = heap.free_in(request.pool);
  Block& found = blocks_[index];
  const bool was_split = found.before != 0 || found.after != 0;
  if (!sizes_.splits(found.size, request)) {
    free.remove(blocks_, index);
    if (was_split) {
      stats_.take_split(request.pool, 1, found.size);
    }
    hand_out(index, request);
    return index;
  }
  const BlockIndex front_index = blocks_.take();
  Block& front = blocks_[front_index];
  front.address = found.address;
  front.size = request.block;
  front.segment = found.segment;
  front.before = found.before;
  front.after = index;
  front.in_fence = false;
  (found.before == 0 ? segments_[found.segment].first_block : blocks_[found.before].after) = front_index;
  found.address += request.block;
  found.before = front_index;
  free.resize(blocks_, index, found.size - request.block);
  if (was_split) {
    stats_.take_split(request.pool, 0, request.block);
  } else {
    stats_.add_split(request.pool, 1, found.size);
  }
  hand_out(front_index, request);
  return front_index;
}

inline void DeviceBooks::hand_out(BlockIndex index, const Request& request) noexcept {
  Block& block = blocks_[index];
  Segment& segment = segments_[block.segment];
  if (segment.live_blocks == 0) {
    if (segment.idle) {
      leave_idle(block.segment);
    }
    if (is_vacant(segment)) {
      vacant_bytes_ -= segment.size;
    }
  }
  ++segment.live_blocks;
  block.state = BlockState::Live;
  block.requested = request.requested;
  block.birth_beat = beat_;
  live_.insert(block.address, index);
  stats_.hand_out(request.pool, block.size, request.requested);
  if (sizes_.is_oversize(block.size, request)) {
    stats_.hand_out_oversize();
  }
  if (history_ != nullptr) [[unlikely]] {
    note_alloc(index, false);
  }
}

inline void DeviceBooks::begin_free(BlockIndex index) noexcept {
  Block& block = blocks_[index];
  Segment& segment = segments_[block.segment];
  block.state = BlockState::Pending;
  --segment.live_blocks;
  if (is_vacant(segment)) {
    vacant_bytes_ += segment.size;
  }
  stats_.begin_free(segment.pool, block.size);
  if (sizes_.is_oversize(block.size)) {
    stats_.free_oversize();
  }
  if (history_ != nullptr) [[unlikely]] {
    note_free_requested(index);
  }
}

inline void DeviceBooks::finish_free(BlockIndex index, LazyTime& now) noexcept {
  segment_of(index).pool == Pool::Small ? finish_free_in<Pool::Small>(index, now)
                                        : finish_free_in<Pool::Large>(index, now);
}

template <Pool kPool>
inline void DeviceBooks::finish_free_in(BlockIndex index, LazyTime& now) noexcept {
  Block& block = blocks_[index];
  const SegmentIndex segment_index = block.segment;
  const Segment& segment = segments_[segment_index];
  Heap& heap = heaps_[segment.heap];
  const std::uint64_t size = block.size;
  stats_.finish_free(kPool, size, block.requested);
  block.state = BlockState::Free;
  const BlockIndex before = block.before;
  const BlockIndex after = block.after;
  const bool joins_before = before != 0 && blocks_[before].state == BlockState::Free;
  const bool joins_after = after != 0 && blocks_[after].state == BlockState::Free;
  BlockIndex result = index;
  if (joins_before) {
    result = before;
    if (joins_after) {
      unlist_free(heap, segment, after);
      absorb_after(index);
    }
    grow_free(heap, segment, before, block.size);
    unlink_after(before);
  } else if (joins_after) {
    result = after;
    blocks_[after].address = block.address;
    grow_free(heap, segment, after, size);
    unlink_before(after);
  } else {
    list_free(heap, segment, index);
  }
  Block& free = blocks_[result];
  free.order = heap.requests[static_cast<unsigned>(kPool)];
  // PyTorch's net change: a neighbour that is merged in no longer counts, the result does if its segment is still
  // split.
  const unsigned merged = static_cast<unsigned>(joins_before) + static_cast<unsigned>(joins_after);
  if (free.before != 0 || free.after != 0) {
    stats_.add_split(kPool, 1 - static_cast<std::int64_t>(merged), size);
  } else {
    stats_.take_split(kPool, merged, free.size - size);
    enter_idle(segment_index, now.ns());
  }
  if (history_ != nullptr) [[unlikely]] {
    note_free_completed(index, result, blocks_[index].address, size, joins_before && joins_after ? after : 0);
  }
}

// The block grows over its right neighbour, whose record is given back.
inline void DeviceBooks::absorb_after(BlockIndex index) noexcept {
  blocks_[index].size += blocks_[blocks_[index].after].size;
  unlink_after(index);
}

inline void DeviceBooks::unlink_after(BlockIndex index) noexcept {
  Block& block = blocks_[index];
  const BlockIndex gone = block.after;
  block.after = blocks_[gone].after;
  if (block.after != 0) {
    blocks_[block.after].before = index;
  }
  blocks_.give(gone);
}

inline void DeviceBooks::unlink_before(BlockIndex index) noexcept {
  Block& block = blocks_[index];
  const BlockIndex gone = block.before;
  block.before = blocks_[gone].before;
  (block.before == 0 ? segments_[block.segment].first_block : blocks_[block.before].after) = index;
  blocks_.give(gone);
}

// Free blocks of a pinned segment stand in no index, so they are never handed out.
inline void DeviceBooks::list_free(Heap& heap, const Segment& segment, BlockIndex index) noexcept {
  if (segment.pinned) {
    set_pinned_bytes(pinned_bytes_ += blocks_[index].size);
    return;
  }
  heap.free_in(segment.pool).insert(blocks_, index);
}

inline void DeviceBooks::grow_free(Heap& heap, const Segment& segment, BlockIndex index, std::uint64_t by) noexcept {
  if (segment.pinned) {
    blocks_[index].size += by;
    set_pinned_bytes(pinned_bytes_ += by);
    return;
  }
  heap.free_in(segment.pool).resize(blocks_, index, blocks_[index].size + by);
}

inline void DeviceBooks::unlist_free(Heap& heap, const Segment& segment, BlockIndex index) noexcept {
  if (segment.pinned) {
    set_pinned_bytes(pinned_bytes_ -= blocks_[index].size);
    return;
  }
  heap.free_in(segment.pool).remove(blocks_, index);
}

}  // namespace tidemark::alloc
