#include "shim/alloc/device_books.hpp"

namespace tidemark::alloc {

// Blocks

bool DeviceBooks::undo_free(BlockIndex index) noexcept {
  if (!live_.reserve()) {
    return false;
  }
  Block& block = blocks_[index];
  Segment& segment = segments_[block.segment];
  if (is_vacant(segment)) {
    vacant_bytes_ -= segment.size;
  }
  ++segment.live_blocks;
  block.state = BlockState::Live;
  block.in_fence = false;
  if (!heaps_[segment.heap].detached) {
    live_.insert(block.address, index);
  }
  stats_.undo_begin_free(segment.pool, block.size);
  if (sizes_.is_oversize(block.size)) {
    stats_.take_back_oversize();
  }
  if (history_ != nullptr) {
    note_undone(index);
  }
  return true;
}

void DeviceBooks::wait_in_gate(Heap& heap, BlockIndex index) noexcept {
  // A new number: what stands in the gate is in the order of its numbers.
  blocks_[index].order = ++newest_free_;
  blocks_[index].in_fence = false;
  heap.gate.add(blocks_, index);
}

bool DeviceBooks::pass_gate(Heap& heap, std::uint64_t order, LazyTime& now) noexcept {
  bool passed = false;
  while (const BlockIndex index = heap.gate.pass(blocks_, order)) {
    finish_free(index, now);
    passed = true;
  }
  return passed;
}

BlockIndex DeviceBooks::take_from_gate(Heap& heap, std::uint64_t order) noexcept {
  const BlockIndex index = heap.gate.pass(blocks_, order);
  if (index != 0) {
    blocks_[index].in_fence = true;
  }
  return index;
}

// Segments

SegmentIndex DeviceBooks::new_segment(Heap& heap, Pool pool, DevicePtr base, std::uint64_t size,
                                      bool passed_through) noexcept {
  forget_stale(base, size);
  if (!reserve() || !segments_.reserve(1) || !map_.add(owner_bit_, base, Bytes{size})) {
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
  if (history_ != nullptr) {
    note_segment(BookAction::SegmentAlloc, index, false);
  }
  return index;
}

BlockIndex DeviceBooks::add_segment(Heap& heap, const Request& request, DevicePtr base) noexcept {
  const SegmentIndex index = new_segment(heap, request.pool, base, request.segment, false);
  if (index == 0) {
    return 0;
  }
  list_free(heap, segments_[index], segments_[index].first_block);
  const BlockIndex block = carve(heap, segments_[index].first_block, request);
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
    Block& block = blocks_[block_index];
    begin_free(block_index);
    stats_.finish_free(segment.pool, block.size, block.requested);
    block.state = BlockState::Free;
    if (history_ != nullptr) {
      note_free_completed(block_index, block_index, block.address, block.size, 0);
    }
  } else {
    leave_idle(index);
    unlist_free(heap, segment, block_index);
    index_.remove(segments_, index);
    vacant_bytes_ -= segment.size;
  }
  map_.remove(owner_bit_, DevicePtr{segment.base}, Bytes{segment.size});
  unlink_from_heap(heap, index);
  stats_.remove_segment(segment.pool, segment.size, sizes_.is_oversize(segment.size));
  if (history_ != nullptr) {
    note_segment(BookAction::SegmentFree, index, false);
  }
}

SegmentIndex DeviceBooks::given_up(std::uint64_t order) const noexcept {
  for (HeapIndex heap = first_heap_; heap != 0; heap = heaps_[heap].next) {
    for (BlockIndex at = heaps_[heap].gate.first(); at != 0 && blocks_[at].order <= order;
         at = blocks_[at].list_after) {
      const Segment& segment = segments_[blocks_[at].segment];
      BlockIndex block = is_vacant(segment) ? segment.first_block : 0;
      while (block != 0 && !(blocks_[block].state == BlockState::Pending && blocks_[block].in_fence)) {
        block = blocks_[block].after;
      }
      if (is_vacant(segment) && block == 0) {
        return blocks_[at].segment;
      }
    }
  }
  return 0;
}

void DeviceBooks::retire_given_up(SegmentIndex index, LazyTime& now) noexcept {
  Heap& heap = heaps_[segments_[index].heap];
  for (BlockIndex at = segments_[index].first_block; at != 0;) {
    if (blocks_[at].state == BlockState::Pending) {
      heap.gate.remove(blocks_, at);
      finish_free(at, now);
    }
    at = blocks_[segments_[index].first_block].after;  // what came before it is one free block by now
  }
  retire(index);
  segments_[index].pinned = true;
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
  if (history_ != nullptr) {
    note_segment(BookAction::SegmentAlloc, index, true);
  }
  Block& block = blocks_[segment.first_block];
  if (segment.passed_through) {
    block.state = BlockState::Live;
    ++segment.live_blocks;
    live_.insert(block.address, segment.first_block);
    stats_.take_back(segment.pool, block.size, block.requested);
    if (sizes_.is_oversize(block.size)) {
      stats_.take_back_oversize();
    }
    if (history_ != nullptr) {
      note_alloc(segment.first_block, true);
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

// By size squared times age: the largest alone would be what a training step needs again in every layer, the oldest
// alone many small ones. Of equals the one that has been idle longest.
SegmentIndex DeviceBooks::most_dispensable_idle() const noexcept {
  SegmentIndex chosen = 0;
  double most = 0;
  for (SegmentIndex index = oldest_idle_; index != 0; index = segments_[index].idle_after) {
    const Segment& segment = segments_[index];
    const std::uint64_t age =
        heaps_[segment.heap].requests[static_cast<unsigned>(segment.pool)] - blocks_[segment.first_block].order;
    const auto size = static_cast<double>(segment.size);
    const double weight = size * size * static_cast<double>(age + 1);
    if (weight > most) {
      most = weight;
      chosen = index;
    }
  }
  return chosen;
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
  if (history_ != nullptr) {
    note_segment(BookAction::SegmentPinned, index, false);
  }
}

SegmentIndex DeviceBooks::doomed_idle() const noexcept {
  SegmentIndex index = oldest_idle_;
  while (index != 0 && keeps_idle_ && !segments_[index].pinned) {
    index = segments_[index].idle_after;
  }
  return index;
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
