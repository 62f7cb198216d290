#include "shim/alloc/device_books.hpp"

namespace tidemark::alloc {

// --- Blocks
// ------------------------------------------------------------------------------------------------------------------------

BlockIndex DeviceBooks::take(Heap& heap, const Request& request) noexcept {
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
void DeviceBooks::carve(Heap& heap, BlockIndex index, const Request& request) noexcept {
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

void DeviceBooks::hand_out(BlockIndex index, const Request& request) noexcept {
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

void DeviceBooks::begin_free(BlockIndex index) noexcept {
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

void DeviceBooks::finish_free(BlockIndex index, std::uint64_t now_ns) noexcept {
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
    enter_idle(block->segment, now_ns);
  }
  stats_.change_split(segment.pool, split_blocks, split_bytes);
}

// The block grows over its right neighbour, whose record is given back.
void DeviceBooks::absorb_after(BlockIndex index) noexcept {
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
void DeviceBooks::list_free(Heap& heap, const Segment& segment, BlockIndex index) noexcept {
  if (segment.pinned) {
    set_pinned_bytes(pinned_bytes_ += blocks_[index].size);
    return;
  }
  heap.free_in(segment.pool).insert(blocks_, index);
}

void DeviceBooks::unlist_free(Heap& heap, const Segment& segment, BlockIndex index) noexcept {
  if (segment.pinned) {
    set_pinned_bytes(pinned_bytes_ -= blocks_[index].size);
    return;
  }
  heap.free_in(segment.pool).remove(blocks_, index);
}

void DeviceBooks::wait_in_gate(Heap& heap, BlockIndex index) noexcept {
  // A new number: what stands in the gate is in the order of its numbers.
  blocks_[index].order = ++newest_free_;
  blocks_[index].in_fence = false;
  heap.gate.add(blocks_, index);
}

bool DeviceBooks::pass_gate(Heap& heap, std::uint64_t order, std::uint64_t now_ns) noexcept {
  bool passed = false;
  while (const BlockIndex index = heap.gate.pass(blocks_, order)) {
    finish_free(index, now_ns);
    passed = true;
  }
  return passed;
}

// --- Segments
// ----------------------------------------------------------------------------------------------------------------------

SegmentIndex DeviceBooks::new_segment(Heap& heap, Pool pool, DevicePtr base, std::uint64_t size,
                                      bool passed_through) noexcept {
  forget_stale(base, size);
  if (!reserve() || !map_.add(owner_bit_, base, Bytes{size})) {
    return 0;
  }
  const SegmentIndex index = segments_.take();
  const BlockIndex block_index = blocks_.take();
  Segment& segment = segments_[index];
  segment = {};
  segment.base = base.address();
  segment.size = size;
  segment.context = heap.context;
  segment.first_block = block_index;
  segment.pool = pool;
  segment.passed_through = passed_through;
  Block& block = blocks_[block_index];
  block = {};
  block.address = base.address();
  block.size = size;
  block.segment = index;
  block.state = BlockState::Free;
  link_to_heap(heap, index);
  if (is_vacant(segment)) {
    vacant_bytes_ += size;
  }
  if (!passed_through && !heap.detached) {
    index_.insert(segments_, index);
  }
  stats_.add_segment(pool, size, sizes_.is_oversize(size));
  return index;
}

BlockIndex DeviceBooks::add_segment(Heap& heap, const Request& request, DevicePtr base) noexcept {
  const SegmentIndex index = new_segment(heap, request.pool, base, request.segment, false);
  if (index == 0) {
    return 0;
  }
  const BlockIndex block = segments_[index].first_block;
  carve(heap, block, request);
  if (heap.detached) {
    live_.take(blocks_, blocks_[block].address);
  }
  return block;
}

BlockIndex DeviceBooks::add_pass_through(Heap& heap, const Request& request, DevicePtr base) noexcept {
  const SegmentIndex index = new_segment(heap, request.pool, base, request.requested, true);
  if (index == 0) {
    return 0;
  }
  const BlockIndex block = segments_[index].first_block;
  hand_out(block, request);
  if (heap.detached) {
    live_.take(blocks_, blocks_[block].address);
  }
  return block;
}

void DeviceBooks::retire(SegmentIndex index) noexcept {
  Segment& segment = segments_[index];
  Heap& heap = heaps_[segment.heap];
  const BlockIndex block_index = segment.first_block;
  if (segment.passed_through) {
    const Block& block = blocks_[block_index];
    begin_free(block_index);
    stats_.finish_free(segment.pool, block.size, block.requested);
  } else {
    leave_idle(index);
    unlist_free(heap, segment, block_index);
    index_.remove(segments_, index);
    vacant_bytes_ -= segment.size;
  }
  map_.remove(owner_bit_, DevicePtr{segment.base}, Bytes{segment.size});
  unlink_from_heap(heap, index);
  stats_.remove_segment(segment.pool, segment.size, sizes_.is_oversize(segment.size));
}

void DeviceBooks::bury(SegmentIndex index) noexcept {
  blocks_.give(segments_[index].first_block);
  segments_.give(index);
}

// Requires: retired. The address may be somebody else's by now, or its context gone: then there is nothing to restore.
void DeviceBooks::restore(SegmentIndex index, std::uint64_t now_ns) noexcept {
  Segment& segment = segments_[index];
  Heap* heap = find_heap(segment.context);
  const bool taken = block_at(DevicePtr{segment.base}) != 0;
  if (heap == nullptr || heap->detached || taken || !live_.reserve() ||
      !map_.add(owner_bit_, DevicePtr{segment.base}, Bytes{segment.size})) {
    bury(index);
    return;
  }
  link_to_heap(*heap, index);
  stats_.return_segment(segment.pool, segment.size, sizes_.is_oversize(segment.size));
  Block& block = blocks_[segment.first_block];
  if (segment.passed_through) {
    block.state = BlockState::Live;
    ++segment.live_blocks;
    live_.insert(block.address, segment.first_block);
    stats_.take_back(segment.pool, block.size, block.requested);
    if (sizes_.is_oversize(block.size)) {
      stats_.take_back_oversize();
    }
    return;
  }
  index_.insert(segments_, index);
  list_free(*heap, segment, segment.first_block);
  if (is_vacant(segment)) {
    vacant_bytes_ += segment.size;
  }
  enter_idle(index, now_ns);
}

SegmentIndex DeviceBooks::largest_idle() const noexcept {
  SegmentIndex largest = 0;
  for (SegmentIndex index = oldest_idle_; index != 0; index = segments_[index].idle_after) {
    if (largest == 0 || segments_[index].size > segments_[largest].size) {
      largest = index;
    }
  }
  return largest;
}

void DeviceBooks::pin(SegmentIndex index) noexcept {
  Segment& segment = segments_[index];
  if (segment.pinned || segment.passed_through) {
    return;
  }
  Heap& heap = heaps_[segment.heap];
  for (BlockIndex block = segment.first_block; block != 0; block = blocks_[block].after) {
    if (blocks_[block].state == BlockState::Free) {
      heap.free_in(segment.pool).remove(blocks_, block);
      set_pinned_bytes(pinned_bytes_ += blocks_[block].size);
    }
  }
  segment.pinned = true;
  pinned_idle_ += segment.idle ? 1 : 0;
}

SegmentIndex DeviceBooks::doomed_idle() const noexcept {
  SegmentIndex index = oldest_idle_;
  while (index != 0 && keeps_idle_ && !segments_[index].pinned) {
    index = segments_[index].idle_after;
  }
  return index;
}

bool DeviceBooks::is_vacant(const Segment& segment) const noexcept {
  const Heap& heap = heaps_[segment.heap];
  return !segment.passed_through && segment.live_blocks == 0 && !heap.detached && !heap.poisoned;
}

void DeviceBooks::enter_idle(SegmentIndex index, std::uint64_t now_ns) noexcept {
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

void DeviceBooks::leave_idle(SegmentIndex index) noexcept {
  Segment& segment = segments_[index];
  segment.idle = false;
  pinned_idle_ -= segment.pinned ? 1 : 0;
  (segment.idle_before == 0 ? oldest_idle_ : segments_[segment.idle_before].idle_after) = segment.idle_after;
  (segment.idle_after == 0 ? newest_idle_ : segments_[segment.idle_after].idle_before) = segment.idle_before;
}

BlockIndex DeviceBooks::block_at(DevicePtr ptr) const noexcept {
  if (const BlockIndex live = live_.find(blocks_, ptr.address()); live != 0) {
    return live;
  }
  const SegmentIndex holder = index_.holder_of(segments_, ptr.address());
  if (holder == 0) {
    return 0;
  }
  BlockIndex index = segments_[holder].first_block;
  while (ptr.address() - blocks_[index].address >= blocks_[index].size) {
    index = blocks_[index].after;
  }
  return index;
}

}  // namespace tidemark::alloc
