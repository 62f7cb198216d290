// The steps of a hit and of a free, inline: they are the allocator's speed. Part of device_books.hpp.
#pragma once

#include "shim/alloc/device_books.hpp"

namespace tidemark::alloc {

inline bool DeviceBooks::is_vacant(const Segment& segment) const noexcept {
  const Heap& heap = heaps_[segment.heap];
  return !segment.passed_through && segment.live_blocks == 0 && !heap.detached && !heap.poisoned;
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
  FreeIndex& free = heap.free_in(request.pool);
  const BlockIndex index = free.find(blocks_, request.block, request.most);
  if (index == 0 || !reserve()) {
    return 0;
  }
  free.remove(blocks_, index);
  carve(heap, index, request);
  return index;
}

// Requires: reserve(), and the block is free and in no list.
inline void DeviceBooks::carve(Heap& heap, BlockIndex index, const Request& request) noexcept {
  Block& block = blocks_[index];
  const bool was_split = block.before != 0 || block.after != 0;
  if (sizes_.splits(block.size, request)) {
    const BlockIndex rest_index = blocks_.take();
    Block& rest = blocks_[rest_index];
    rest = {.address = block.address + request.block,
            .size = block.size - request.block,
            .requested = 0,
            .order = block.order,
            .segment = block.segment,
            .before = index,
            .after = block.after,
            .list_before = 0,
            .list_after = 0,
            .birth_beat = 0,
            .state = BlockState::Free,
            .in_fence = false};
    if (rest.after != 0) {
      blocks_[rest.after].before = rest_index;
    }
    block.after = rest_index;
    block.size = request.block;
    list_free(heap, segments_[block.segment], rest_index);
    if (was_split) {
      stats_.change_split(request.pool, 0, -static_cast<std::int64_t>(block.size));
    } else {
      stats_.change_split(request.pool, 1, static_cast<std::int64_t>(rest.size));
    }
  } else if (was_split) {
    stats_.change_split(request.pool, -1, -static_cast<std::int64_t>(block.size));
  }
  hand_out(index, request);
}

inline void DeviceBooks::hand_out(BlockIndex index, const Request& request) noexcept {
  Block& block = blocks_[index];
  Segment& segment = segments_[block.segment];
  if (segment.idle) {
    leave_idle(block.segment);
  }
  if (is_vacant(segment)) {
    vacant_bytes_ -= segment.size;
  }
  ++segment.live_blocks;
  block.state = BlockState::Live;
  block.requested = request.requested;
  block.birth_beat = beat_;
  live_.insert(block.address, index);
  stats_.hand_out(segment.pool, block.size, block.requested);
  if (sizes_.is_oversize(block.size)) {
    stats_.hand_out_oversize();
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
}

inline void DeviceBooks::finish_free(BlockIndex index, LazyTime& now) noexcept {
  Block* block = &blocks_[index];
  Segment& segment = segments_[block->segment];
  Heap& heap = heaps_[segment.heap];
  stats_.finish_free(segment.pool, block->size, block->requested);
  std::int64_t split_blocks = 0;
  std::int64_t split_bytes = 0;
  const auto absorb = [&](BlockIndex neighbour) {
    split_blocks -= 1;
    split_bytes -= static_cast<std::int64_t>(blocks_[neighbour].size);
    unlist_free(heap, segment, neighbour);
  };
  block->requested = 0;
  block->state = BlockState::Free;
  if (block->after != 0 && blocks_[block->after].state == BlockState::Free) {
    absorb(block->after);
    absorb_after(index);
  }
  if (block->before != 0 && blocks_[block->before].state == BlockState::Free) {
    const BlockIndex before = block->before;
    absorb(before);
    absorb_after(before);
    index = before;
    block = &blocks_[index];
  }
  block->order = heap.requests[static_cast<unsigned>(segment.pool)];
  list_free(heap, segment, index);
  if (block->before != 0 || block->after != 0) {
    split_blocks += 1;
    split_bytes += static_cast<std::int64_t>(block->size);
  } else {
    enter_idle(block->segment, now.ns());
  }
  stats_.change_split(segment.pool, split_blocks, split_bytes);
}

// The block grows over its right neighbour, whose record is given back.
inline void DeviceBooks::absorb_after(BlockIndex index) noexcept {
  Block& block = blocks_[index];
  const BlockIndex gone = block.after;
  block.size += blocks_[gone].size;
  block.after = blocks_[gone].after;
  if (block.after != 0) {
    blocks_[block.after].before = index;
  }
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

inline void DeviceBooks::unlist_free(Heap& heap, const Segment& segment, BlockIndex index) noexcept {
  if (segment.pinned) {
    set_pinned_bytes(pinned_bytes_ -= blocks_[index].size);
    return;
  }
  heap.free_in(segment.pool).remove(blocks_, index);
}

}  // namespace tidemark::alloc
