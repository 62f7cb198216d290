// The model's statistics: PyTorch's table of events.
#include <algorithm>

#include "tests/support/reference_model.hpp"
#include "tests/support/test_clock.hpp"

namespace tidemark::test {

using Name = ModelStatName;

void ModelStat::increase(std::uint64_t by) {
  current += by;
  allocated += by;
  peak = std::max(peak, current);
}

void ModelStat::decrease(std::uint64_t by) {
  current -= by;
  freed += by;
}

void ModelStat::undo_decrease(std::uint64_t by) {
  current += by;
  freed -= by;
  peak = std::max(peak, current);
}

void ReferenceModel::increase(Name name, bool large, std::uint64_t by) {
  StatArray& array = stats_[static_cast<std::size_t>(name)];
  array[0].increase(by);
  array[large ? 2 : 1].increase(by);
}

void ReferenceModel::decrease(Name name, bool large, std::uint64_t by) {
  StatArray& array = stats_[static_cast<std::size_t>(name)];
  array[0].decrease(by);
  array[large ? 2 : 1].decrease(by);
}

void ReferenceModel::undo_decrease(Name name, bool large, std::uint64_t by) {
  StatArray& array = stats_[static_cast<std::size_t>(name)];
  array[0].undo_decrease(by);
  array[large ? 2 : 1].undo_decrease(by);
}

void ReferenceModel::change(Name name, bool large, std::int64_t by) {
  if (by > 0) {
    increase(name, large, static_cast<std::uint64_t>(by));
  } else {
    decrease(name, large, static_cast<std::uint64_t>(-by));
  }
}

// PyTorch's table: which event moves which statistic.
void ReferenceModel::count_handed_out(const Block& block, bool again) {
  const bool large = block.segment->large;
  const auto more = again ? &ReferenceModel::undo_decrease : &ReferenceModel::increase;
  (this->*more)(Name::Allocation, large, 1);
  (this->*more)(Name::AllocatedBytes, large, block.size);
  (this->*more)(Name::Active, large, 1);
  (this->*more)(Name::ActiveBytes, large, block.size);
  (this->*more)(Name::RequestedBytes, large, block.requested);
  if (is_oversize(block.size)) {
    again ? oversize_blocks_.undo_decrease(1) : oversize_blocks_.increase(1);
  }
  peak_active_ever_ = std::max(peak_active_ever_, all(Name::ActiveBytes).current);
  see_peak(0, all(Name::AllocatedBytes).current);
}

void ReferenceModel::count_free_begun(const Block& block) {
  decrease(Name::Allocation, block.segment->large, 1);
  decrease(Name::AllocatedBytes, block.segment->large, block.size);
  if (is_oversize(block.size)) {
    oversize_blocks_.decrease(1);
  }
}

void ReferenceModel::count_free_undone(const Block& block) {
  const bool large = block.segment->large;
  undo_decrease(Name::Allocation, large, 1);
  undo_decrease(Name::AllocatedBytes, large, block.size);
  if (is_oversize(block.size)) {
    oversize_blocks_.undo_decrease(1);
  }
}

void ReferenceModel::count_free_done(const Block& block) {
  decrease(Name::Active, block.segment->large, 1);
  decrease(Name::ActiveBytes, block.segment->large, block.size);
  decrease(Name::RequestedBytes, block.segment->large, block.requested);
}

void ReferenceModel::count_segment(const Segment& segment, bool again) {
  const auto more = again ? &ReferenceModel::undo_decrease : &ReferenceModel::increase;
  (this->*more)(Name::Segment, segment.large, 1);
  (this->*more)(Name::ReservedBytes, segment.large, segment.size);
  if (is_oversize(segment.size)) {
    again ? oversize_segments_.undo_decrease(1) : oversize_segments_.increase(1);
  }
  see_peak(1, all(Name::ReservedBytes).current);
  see_held();
}

void ReferenceModel::count_segment_gone(const Segment& segment) {
  decrease(Name::Segment, segment.large, 1);
  decrease(Name::ReservedBytes, segment.large, segment.size);
  if (is_oversize(segment.size)) {
    oversize_segments_.decrease(1);
  }
  see_held();
}

void ReferenceModel::see_held() {
  held_.current = all(Name::ReservedBytes).current + other_kinds_;
  held_.peak = std::max(held_.peak, held_.current);
  see_peak(2, held_.current);
}

void ReferenceModel::see_peak(std::size_t which, std::uint64_t value) {
  lifetime_peaks_[which] = std::max(lifetime_peaks_[which], value);
  for (auto& [slot, peaks] : peak_slots_) {
    peaks[which] = std::max(peaks[which], value);
  }
}

void ReferenceModel::reset_peak_slot(unsigned slot) {
  peak_slots_[slot] = {all(Name::AllocatedBytes).current, all(Name::ReservedBytes).current, held_.current};
}

void ReferenceModel::add_other_kinds(std::uint64_t size) {
  other_kinds_ += size;
  see_held();
}

void ReferenceModel::remove_other_kinds(std::uint64_t size) {
  other_kinds_ -= size;
  see_held();
}

void ReferenceModel::reset_peaks() {
  for (StatArray& array : stats_) {
    for (ModelStat& stat : array) {
      stat.peak = stat.current;
    }
  }
  for (ModelStat* stat : {&oversize_blocks_, &oversize_segments_, &held_}) {
    stat->peak = stat->current;
  }
  words_[BasisWord::peak_reset_time_ns] = TestClock::kEpoch + device.now_ns;
  ++words_[BasisWord::peak_resets];
}

void ReferenceModel::reset_accumulated() {
  for (StatArray& array : stats_) {
    for (ModelStat& stat : array) {
      stat.allocated = stat.freed = 0;
    }
  }
  for (ModelStat* stat : {&oversize_blocks_, &oversize_segments_}) {
    stat->allocated = stat->freed = 0;
  }
  hits_ = 0;
  for (const BasisWord event : {BasisWord::misses, BasisWord::passed_through, BasisWord::alloc_retries, BasisWord::ooms,
                                BasisWord::sync_all_streams, BasisWord::device_allocs, BasisWord::device_frees,
                                BasisWord::free_wait_ns, BasisWord::driver_ns}) {
    words_[event] = 0;
  }
  words_[BasisWord::accumulated_reset_time_ns] = TestClock::kEpoch + device.now_ns;
}

std::uint64_t ReferenceModel::pinned_bytes() const {
  std::uint64_t bytes = 0;
  for (const Heap& heap : heaps_) {
    for (const Segment& segment : heap.segments) {
      for (const Block& block : segment.blocks) {
        bytes += segment.pinned && block.state == State::Free ? block.size : 0;
      }
    }
  }
  return bytes;
}

}  // namespace tidemark::test
