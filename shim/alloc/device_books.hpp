// The books of one device: which memory it has from the driver, how that is divided, and the counters that follow from
// it. Every step is complete and instant: no driver call, no lock, no time of its own. DeviceCache decides which step
// to take when.
//
// Threads: under the device's lock. References and indices of blocks, segments and heaps hold until the lock is
// released; a block's index also while its thread waits for its fence (state Abandoned tells it that its context has
// gone meanwhile). Errors: a step that needs host memory says so by its result and has then changed nothing.
#pragma once

#include <cstdint>

#include "shim/alloc/address_index.hpp"
#include "shim/alloc/clock.hpp"
#include "shim/alloc/device_stats.hpp"
#include "shim/alloc/heap.hpp"
#include "shim/alloc/history_sink.hpp"
#include "shim/alloc/live_map.hpp"
#include "shim/alloc/records.hpp"
#include "shim/alloc/segment_map.hpp"
#include "shim/alloc/size_policy.hpp"

namespace tidemark::alloc {

class DeviceBooks {
 public:
  DeviceBooks(const SizePolicy& sizes, SegmentMap& map) noexcept : sizes_(sizes), map_(map) {}

  // Heaps

  [[nodiscard]] Heap* find_heap(ContextId context) noexcept {
    if (first_heap_ != 0 && heaps_[first_heap_].context == context) {
      return &heaps_[first_heap_];
    }
    return find_other_heap(context);
  }
  // Makes it if there is none; null without host memory. Moves other heaps.
  [[nodiscard]] Heap* heap_for(ContextId context) noexcept;
  void detach(Heap& heap) noexcept;
  void reattach(Heap& heap) noexcept;
  void forget(Heap& heap) noexcept;  // the heap is gone afterwards
  void poison(Heap& heap) noexcept;
  [[nodiscard]] bool is_any_poisoned() const { return poisoned_heaps_ != 0; }
  [[nodiscard]] Heap* next_heap(const Heap* heap) noexcept;  // null: the first

  // Blocks

  // From the free blocks, handed out and counted; 0: nothing fits.
  [[nodiscard]] BlockIndex take(Heap& heap, const Request& request) noexcept;
  // A live block, out of the live map; 0: not a pointer that the program holds.
  [[nodiscard]] BlockIndex take_live(DevicePtr ptr) noexcept { return live_.take(blocks_, ptr.address()); }
  [[nodiscard]] bool is_inside(DevicePtr ptr) const noexcept { return index_.holder_of(segments_, ptr.address()) != 0; }
  void begin_free(BlockIndex block) noexcept;
  // Live again, after a free that the driver refused; false without host memory: nothing was changed.
  [[nodiscard]] bool undo_free(BlockIndex block) noexcept;
  // Into the free blocks, merged with its neighbours.
  void finish_free(BlockIndex block, LazyTime& now) noexcept;
  void give_back_abandoned(BlockIndex block) noexcept { blocks_.give(block); }
  void wait_in_gate(Heap& heap, BlockIndex block) noexcept;
  // Every block of the heap that was freed up to `order`; whether there was one.
  bool pass_gate(Heap& heap, std::uint64_t order, LazyTime& now) noexcept;
  // The first of them alone, which then waits for its caller as for a fence; 0: none.
  [[nodiscard]] BlockIndex take_from_gate(Heap& heap, std::uint64_t order) noexcept;
  [[nodiscard]] std::uint64_t newest_free() const { return newest_free_; }

  // Segments

  // Books what the driver gave for `request` and hands its front out; 0 without host memory.
  [[nodiscard]] BlockIndex add_segment(Heap& heap, const Request& request, DevicePtr base) noexcept;
  [[nodiscard]] BlockIndex add_pass_through(Heap& heap, const Request& request, DevicePtr base) noexcept;
  // Out of the books, before the driver sees it. The record stays until bury() or restore(), so that a refusal can be
  // undone. Requires: of an idle segment; of a pass-through block just taken from the live map.
  void retire(SegmentIndex segment) noexcept;
  void bury(SegmentIndex segment) noexcept;
  void restore(SegmentIndex segment, std::uint64_t now_ns) noexcept;
  // A segment that the program has given up wholly, though its frees up to `order` may still have to wait for the
  // device; 0: none. Retired, its blocks have left the gate: only a driver's free, which waits itself, may follow, and
  // if that is refused the segment is restored as a pinned one.
  [[nodiscard]] SegmentIndex given_up(std::uint64_t order) const noexcept;
  void retire_given_up(SegmentIndex segment, LazyTime& now) noexcept;

  // Idle segments: wholly free, of a context in order. Oldest first by Segment::idle_after.
  [[nodiscard]] SegmentIndex oldest_idle() const { return oldest_idle_; }
  // The one to part with: large, and not asked for during many requests; 0: none is idle.
  [[nodiscard]] SegmentIndex most_dispensable_idle() const noexcept;
  void pin(SegmentIndex segment) noexcept;
  // Idle segments that are not to be kept: pinned ones, and all of them once keep_no_idle() was called.
  void keep_no_idle() { keeps_idle_ = false; }
  [[nodiscard]] bool has_doomed_idle() const { return pinned_idle_ != 0 || (!keeps_idle_ && oldest_idle_ != 0); }
  [[nodiscard]] SegmentIndex doomed_idle() const noexcept;
  [[nodiscard]] std::uint64_t vacant_bytes() const { return vacant_bytes_; }

  // Looking

  [[nodiscard]] BlockIndex block_at(DevicePtr ptr) const noexcept;  // live, free or pending; 0: not ours
  [[nodiscard]] Block& block(BlockIndex index) { return blocks_[index]; }
  [[nodiscard]] Segment& segment(SegmentIndex index) { return segments_[index]; }
  [[nodiscard]] Segment& segment_of(BlockIndex index) { return segments_[blocks_[index].segment]; }
  [[nodiscard]] Heap& heap_of(const Segment& segment) { return heaps_[segment.heap]; }
  [[nodiscard]] const BlockTable& blocks() const { return blocks_; }
  [[nodiscard]] DeviceStats& stats() { return stats_; }

  void set_owner_bit(unsigned bit) { owner_bit_ = bit; }
  // One more request in the heap's pool: free blocks age by it.
  void age(Heap& heap, Pool pool) noexcept { ++heap.requests[static_cast<unsigned>(pool)]; }
  void set_beat(std::uint32_t beat) { beat_ = beat; }

  // History: null for none. Each step is told once it is done.
  void set_history(HistorySink* history) noexcept { history_ = history; }
  void note_out_of_memory(std::uint64_t size, std::uint64_t requested, std::uint64_t device_free) noexcept;
  void note_peak_reset() noexcept;
  void show_to(BookVisitor& visitor) const noexcept;
  [[nodiscard]] BookNumbers numbers() const noexcept {
    return {.blocks = blocks_.highest() + 1, .segments = segments_.highest() + 1};
  }

  // Null, or which rule is broken.
  [[nodiscard]] const char* check() const noexcept;

 private:
  // For one more block to be handed out, and the rest it leaves.
  [[nodiscard]] bool reserve() noexcept { return blocks_.reserve(2) && live_.reserve(); }
  [[nodiscard]] Heap* find_other_heap(ContextId context) noexcept;
  [[nodiscard]] SegmentIndex new_segment(Heap& heap, Pool pool, DevicePtr base, std::uint64_t size,
                                         bool passed_through) noexcept;
  void hand_out(BlockIndex index, const Request& request) noexcept;
  BlockIndex carve(Heap& heap, BlockIndex index, const Request& request) noexcept;
  template <Pool kPool>
  void finish_free_in(BlockIndex block, LazyTime& now) noexcept;
  void absorb_after(BlockIndex index) noexcept;
  void unlink_after(BlockIndex index) noexcept;
  void unlink_before(BlockIndex index) noexcept;
  void grow_free(Heap& heap, const Segment& segment, BlockIndex index, std::uint64_t by) noexcept;
  void list_free(Heap& heap, const Segment& segment, BlockIndex index) noexcept;
  void unlist_free(Heap& heap, const Segment& segment, BlockIndex index) noexcept;
  [[nodiscard]] bool is_vacant(const Segment& segment) const noexcept;
  void enter_idle(SegmentIndex index, std::uint64_t now_ns) noexcept;
  void leave_idle(SegmentIndex index) noexcept;
  void link_to_heap(Heap& heap, SegmentIndex index) noexcept;
  void unlink_from_heap(Heap& heap, SegmentIndex index) noexcept;
  void forget_segment(SegmentIndex index) noexcept;
  void forget_block(Heap& heap, const Segment& segment, BlockIndex index) noexcept;
  void note_forgotten(BlockIndex index) noexcept;
  void forget_stale(DevicePtr base, std::uint64_t size) noexcept;
  // Require: a history. device_books_history.cpp
  void note_alloc(BlockIndex index, bool is_undone) noexcept;
  void note_free_requested(BlockIndex index) noexcept;
  void note_free_completed(BlockIndex index, BlockIndex result, std::uint64_t address, std::uint64_t size,
                           BlockIndex absorbed) noexcept;
  void note_undone(BlockIndex index) noexcept;
  void note_segment(BookAction action, SegmentIndex index, bool is_undone) noexcept;
  void set_pinned_bytes(std::uint64_t bytes) noexcept { stats_.set(BasisWord::pinned_bytes, bytes); }
  [[nodiscard]] const char* check_segment(const Segment& segment, SegmentIndex index) const noexcept;

  const SizePolicy& sizes_;
  SegmentMap& map_;
  HistorySink* history_ = nullptr;
  unsigned owner_bit_ = 0;
  std::uint32_t beat_ = 0;
  HeapIndex first_heap_ = 0;
  SegmentIndex oldest_idle_ = 0;
  SegmentIndex newest_idle_ = 0;
  std::uint32_t poisoned_heaps_ = 0;
  std::uint64_t vacant_bytes_ = 0;  // of segments in which nothing is live: what the driver could have back
  std::uint64_t pinned_bytes_ = 0;
  std::uint32_t pinned_idle_ = 0;
  bool keeps_idle_ = true;
  std::uint64_t newest_free_ = 0;
  LiveMap live_;
  BlockTable blocks_;
  SegmentTable segments_;
  HeapTable heaps_;
  AddressIndex index_;
  DeviceStats stats_;
};

}  // namespace tidemark::alloc

#include "shim/alloc/device_books_hot.hpp"
