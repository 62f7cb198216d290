// What DeviceBooks tells its history, and how it is shown as a whole. Out of line: a hit doesn't come here unless it is
// recorded.
#include "shim/alloc/device_books.hpp"

namespace tidemark::alloc {
namespace {

BookEvent event_of(BookAction action, BlockIndex index, const Block& block) noexcept {
  return {.action = action,
          .block = index,
          .segment = block.segment,
          .address = block.address,
          .size = block.size,
          .requested = block.requested};
}

}  // namespace

void DeviceBooks::note_alloc(BlockIndex index, bool is_undone) noexcept {
  const Block& block = blocks_[index];
  // What is left of the block it was cut from.
  const BlockIndex rest = block.after != 0 && blocks_[block.after].state == BlockState::Free ? block.after : 0;
  BookEvent event = event_of(BookAction::Alloc, index, block);
  event.is_undone = is_undone;
  event.changed = rest;
  history_->note(event, blocks_, segments_);
}

void DeviceBooks::note_free_requested(BlockIndex index) noexcept {
  history_->note(event_of(BookAction::FreeRequested, index, blocks_[index]), blocks_, segments_);
}

// `result` is the free block that it is (part of) now. A record that was given back still says what it was, but for its
// size.
void DeviceBooks::note_free_completed(BlockIndex index, BlockIndex result, std::uint64_t address, std::uint64_t size,
                                      BlockIndex absorbed) noexcept {
  history_->note({.action = BookAction::FreeCompleted,
                  .block = index,
                  .segment = blocks_[result].segment,
                  .address = address,
                  .size = size,
                  .requested = blocks_[index].requested,
                  .changed = result,
                  .gone = {index == result ? 0 : index, absorbed}},
                 blocks_, segments_);
}

void DeviceBooks::note_undone(BlockIndex index) noexcept {
  history_->note(event_of(BookAction::FreeCompleted, index, blocks_[index]), blocks_, segments_);
  note_alloc(index, true);
}

void DeviceBooks::note_segment(BookAction action, SegmentIndex index, bool is_undone) noexcept {
  const Segment& segment = segments_[index];
  history_->note({.action = action,
                  .is_undone = is_undone,
                  .segment = index,
                  .address = segment.base,
                  .size = segment.size,
                  .changed = action == BookAction::SegmentAlloc ? segment.first_block : 0},
                 blocks_, segments_);
}

void DeviceBooks::note_out_of_memory(std::uint64_t size, std::uint64_t requested, std::uint64_t device_free) noexcept {
  if (history_ != nullptr) {
    history_->note(
        {.action = BookAction::OutOfMemory, .size = size, .requested = requested, .device_free_bytes = device_free},
        blocks_, segments_);
  }
}

void DeviceBooks::note_peak_reset() noexcept {
  if (history_ != nullptr) {
    history_->note({.action = BookAction::PeakReset, .size = stats_.live()}, blocks_, segments_);
  }
}

void DeviceBooks::show_to(BookVisitor& visitor) const noexcept {
  for (HeapIndex heap = first_heap_; heap != 0; heap = heaps_[heap].next) {
    for (SegmentIndex index = heaps_[heap].first_segment; index != 0; index = segments_[index].heap_after) {
      visitor.visit_segment(index, segments_[index]);
      for (BlockIndex block = segments_[index].first_block; block != 0; block = blocks_[block].after) {
        visitor.visit_block(block, blocks_[block]);
      }
    }
  }
  visitor.visit_counters(stats_.basis());
}

}  // namespace tidemark::alloc
