// Heaps of DeviceBooks: found, detached before their context goes, and forgotten with it.
#include "shim/alloc/device_books.hpp"

namespace tidemark::alloc {

Heap* DeviceBooks::find_other_heap(ContextId context) noexcept {
  for (HeapIndex index = first_heap_; index != 0; index = heaps_[index].next) {
    if (heaps_[index].context == context) {
      return &heaps_[index];
    }
  }
  return nullptr;
}

Heap* DeviceBooks::heap_for(ContextId context) noexcept {
  if (Heap* heap = find_heap(context); heap != nullptr) {
    return heap;
  }
  if (!heaps_.reserve(1)) {
    return nullptr;
  }
  const HeapIndex index = heaps_.take();
  heaps_[index] = {};
  heaps_[index].context = context;
  heaps_[index].next = first_heap_;
  first_heap_ = index;
  return &heaps_[index];
}

Heap* DeviceBooks::next_heap(const Heap* heap) noexcept {
  const HeapIndex index = heap == nullptr ? first_heap_ : heap->next;
  return index == 0 ? nullptr : &heaps_[index];
}

void DeviceBooks::link_to_heap(Heap& heap, SegmentIndex index) noexcept {
  Segment& segment = segments_[index];
  segment.heap = heaps_.index_of(heap);
  segment.heap_before = 0;
  segment.heap_after = heap.first_segment;
  if (heap.first_segment != 0) {
    segments_[heap.first_segment].heap_before = index;
  }
  heap.first_segment = index;
}

void DeviceBooks::unlink_from_heap(Heap& heap, SegmentIndex index) noexcept {
  const Segment& segment = segments_[index];
  (segment.heap_before == 0 ? heap.first_segment : segments_[segment.heap_before].heap_after) = segment.heap_after;
  if (segment.heap_after != 0) {
    segments_[segment.heap_after].heap_before = segment.heap_before;
  }
}

void DeviceBooks::detach(Heap& heap) noexcept {
  for (SegmentIndex index = heap.first_segment; index != 0; index = segments_[index].heap_after) {
    Segment& segment = segments_[index];
    if (is_vacant(segment)) {
      vacant_bytes_ -= segment.size;
    }
    if (segment.idle) {
      leave_idle(index);
    }
    if (!segment.passed_through) {
      index_.remove(segments_, index);
    }
    map_.remove(owner_bit_, DevicePtr{segment.base}, Bytes{segment.size});
    for (BlockIndex block = segment.first_block; block != 0; block = blocks_[block].after) {
      if (blocks_[block].state == BlockState::Live) {
        live_.take(blocks_, blocks_[block].address);
      }
    }
  }
  heap.detached = true;
}

void DeviceBooks::reattach(Heap& heap) noexcept {
  heap.detached = false;
  for (SegmentIndex index = heap.first_segment; index != 0; index = segments_[index].heap_after) {
    Segment& segment = segments_[index];
    if (is_vacant(segment)) {
      vacant_bytes_ += segment.size;
    }
    if (!segment.passed_through) {
      index_.insert(segments_, index);
    }
    // The tables for these addresses and as many live entries exist since before, so nothing here can fail for want of
    // memory unless other allocations took the places meanwhile; such a block's free is then forwarded.
    (void)map_.add(owner_bit_, DevicePtr{segment.base}, Bytes{segment.size});
    for (BlockIndex block = segment.first_block; block != 0; block = blocks_[block].after) {
      if (blocks_[block].state == BlockState::Live && live_.reserve()) {
        live_.insert(blocks_[block].address, block);
      }
    }
    const Block& first = blocks_[segment.first_block];
    if (first.state == BlockState::Free && first.after == 0) {
      enter_idle(index, segment.idle_since_ns);
    }
  }
}

void DeviceBooks::forget(Heap& heap) noexcept {
  while (heap.first_segment != 0) {
    forget_segment(heap.first_segment);
  }
  if (heap.poisoned) {
    --poisoned_heaps_;
  }
  const HeapIndex index = heaps_.index_of(heap);
  HeapIndex* link = &first_heap_;
  while (*link != index) {
    link = &heaps_[*link].next;
  }
  *link = heap.next;
  heaps_.give(index);
}

void DeviceBooks::poison(Heap& heap) noexcept {
  if (heap.poisoned) {
    return;
  }
  for (SegmentIndex index = heap.first_segment; index != 0; index = segments_[index].heap_after) {
    if (is_vacant(segments_[index])) {
      vacant_bytes_ -= segments_[index].size;
    }
    if (segments_[index].idle) {
      leave_idle(index);
    }
  }
  heap.poisoned = true;
  ++poisoned_heaps_;
}

// Its memory is gone without a free of ours.
void DeviceBooks::forget_segment(SegmentIndex index) noexcept {
  Segment& segment = segments_[index];
  Heap& heap = heaps_[segment.heap];
  if (is_vacant(segment)) {
    vacant_bytes_ -= segment.size;
  }
  if (segment.idle) {
    leave_idle(index);
  }
  if (!heap.detached) {
    map_.remove(owner_bit_, DevicePtr{segment.base}, Bytes{segment.size});
    if (!segment.passed_through) {
      index_.remove(segments_, index);
    }
  }
  for (BlockIndex block = segment.first_block; block != 0;) {
    const BlockIndex after = blocks_[block].after;
    forget_block(heap, segment, block);
    block = after;
  }
  unlink_from_heap(heap, index);
  stats_.remove_segment(segment.pool, segment.size, sizes_.is_oversize(segment.size));
  if (history_ != nullptr) {
    note_segment(BookAction::SegmentFree, index, false);
  }
  segments_.give(index);
}

void DeviceBooks::forget_block(Heap& heap, const Segment& segment, BlockIndex index) noexcept {
  Block& block = blocks_[index];
  switch (block.state) {
    case BlockState::Live:
      if (!heap.detached) {
        live_.take(blocks_, block.address);
      }
      stats_.begin_free(segment.pool, block.size);
      block.state = BlockState::Pending;
      if (history_ != nullptr) {
        note_free_requested(index);
      }
      stats_.finish_free(segment.pool, block.size, block.requested);
      if (sizes_.is_oversize(block.size)) {
        stats_.free_oversize();
      }
      note_forgotten(index);
      break;
    case BlockState::Pending:
      stats_.finish_free(segment.pool, block.size, block.requested);
      note_forgotten(index);
      if (block.in_fence) {
        block.state = BlockState::Abandoned;
        return;
      }
      heap.gate.remove(blocks_, index);
      break;
    case BlockState::Free:
      unlist_free(heap, segment, index);
      if (block.before != 0 || block.after != 0) {
        stats_.take_split(segment.pool, 1, block.size);
      }
      break;
    case BlockState::Abandoned:
      return;
  }
  blocks_.give(index);
}

void DeviceBooks::note_forgotten(BlockIndex index) noexcept {
  blocks_[index].state = BlockState::Free;
  if (history_ != nullptr) {
    note_free_completed(index, index, blocks_[index].address, blocks_[index].size, 0);
  }
}

// The driver gave out an address that we think is in use: it was freed on a way we don't see. What we know of it is no
// longer true.
void DeviceBooks::forget_stale(DevicePtr base, std::uint64_t size) noexcept {
  while (const SegmentIndex stale = index_.overlapping(segments_, base.address(), size)) {
    forget_segment(stale);
  }
  if (const BlockIndex live = live_.find(blocks_, base.address()); live != 0) {
    forget_segment(blocks_[live].segment);
  }
}

}  // namespace tidemark::alloc
