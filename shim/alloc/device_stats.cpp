#include "shim/alloc/device_stats.hpp"

#include <bit>

namespace tidemark::alloc {

namespace {

constexpr std::array kPools = {Pool::Small, Pool::Large};

constexpr std::array kAccumulatedEvents = {
    BasisWord::misses,
    BasisWord::passed_through,
    BasisWord::alloc_retries,
    BasisWord::ooms,
    BasisWord::sync_all_streams,
    BasisWord::device_allocs,
    BasisWord::device_frees,
    BasisWord::free_wait_ns,
    BasisWord::driver_ns,
    BasisWord::oversize_blocks_total,
    BasisWord::oversize_segments_total,
};

}  // namespace

void DeviceStats::take_back(Pool pool, std::uint64_t size, std::uint64_t requested) noexcept {
  std::uint64_t* const words = words_of(pool);
  words[kLiveBlocks] += 1;
  words[kLiveBytes] += size;
  words[kRequestedBytes] += requested;
  touch_blocks(pool);
  raise_each_block_peak(pool);
}

void DeviceStats::undo_begin_free(Pool pool, std::uint64_t size) noexcept {
  std::uint64_t* const words = words_of(pool);
  words[kLiveBlocks] += 1;
  words[kLiveBytes] += size;
  words[kPendingBlocks] -= 1;
  words[kPendingBytes] -= size;
  touch_blocks(pool);
  raise_each_block_peak(pool);
}

void DeviceStats::hand_out_oversize() noexcept {
  word(BasisWord::oversize_blocks_total) += 1;
  take_back_oversize();
}

void DeviceStats::take_back_oversize() noexcept {
  word(BasisWord::oversize_blocks) += 1;
  raise(index_of(BasisWord::peak_oversize_blocks), basis_[BasisWord::oversize_blocks]);
}

void DeviceStats::raise_each_block_peak(Pool pool) noexcept {
  constexpr std::size_t kAll = index_of(BasisWord::peak_all_allocation);
  const std::size_t own = peaks_of(pool);
  const std::uint64_t* const words = words_of(pool);
  const std::uint64_t* const other = words_of(other_than(pool));
  const std::uint64_t active = words[kLiveBlocks] + words[kPendingBlocks];
  const std::uint64_t active_bytes = words[kLiveBytes] + words[kPendingBytes];
  const std::uint64_t all_active_bytes = active_bytes + other[kLiveBytes] + other[kPendingBytes];
  raise(own + kAllocation, words[kLiveBlocks]);
  raise(own + kAllocatedBytes, words[kLiveBytes]);
  raise(own + kRequested, words[kRequestedBytes]);
  raise(own + kActive, active);
  raise(own + kActiveBytes, active_bytes);
  raise(kAll + kAllocation, words[kLiveBlocks] + other[kLiveBlocks]);
  raise(kAll + kRequested, words[kRequestedBytes] + other[kRequestedBytes]);
  raise(kAll + kActive, active + other[kLiveBlocks] + other[kPendingBlocks]);
  raise(kAll + kActiveBytes, all_active_bytes);
  lifetime_peak_active_ = std::max(lifetime_peak_active_, all_active_bytes);
  const std::uint64_t live_bytes = words[kLiveBytes] + other[kLiveBytes];
  raise(kAll + kAllocatedBytes, live_bytes);
  raise_word(index_of(BasisWord::lifetime_peak_allocated_bytes), live_bytes);
}

void DeviceStats::add_segment(Pool pool, std::uint64_t size, bool oversize) noexcept {
  std::uint64_t* const words = words_of(pool);
  words[kSegmentsTotal] += 1;
  words[kReservedBytesTotal] += size;
  if (oversize) {
    word(BasisWord::oversize_segments_total) += 1;
  }
  return_segment(pool, size, oversize);
}

void DeviceStats::return_segment(Pool pool, std::uint64_t size, bool oversize) noexcept {
  std::uint64_t* const words = words_of(pool);
  words[kSegments] += 1;
  words[kReservedBytes] += size;
  touch_segments(pool);
  if (oversize) {
    word(BasisWord::oversize_segments) += 1;
    raise(index_of(BasisWord::peak_oversize_segments), basis_[BasisWord::oversize_segments]);
  }
  raise_segment_peaks(pool);
}

void DeviceStats::remove_segment(Pool pool, std::uint64_t size, bool oversize) noexcept {
  std::uint64_t* const words = words_of(pool);
  words[kSegments] -= 1;
  words[kReservedBytes] -= size;
  touch_segments(pool);
  if (oversize) {
    word(BasisWord::oversize_segments) -= 1;
  }
  word(BasisWord::held_bytes) = reserved() + other_kinds_;
}

void DeviceStats::raise_segment_peaks(Pool pool) noexcept {
  constexpr std::size_t kAll = index_of(BasisWord::peak_all_allocation);
  const std::size_t own = peaks_of(pool);
  const std::uint64_t* const words = words_of(pool);
  const std::uint64_t* const other = words_of(other_than(pool));
  raise(own + kSegment, words[kSegments]);
  raise(own + kReserved, words[kReservedBytes]);
  raise(kAll + kSegment, words[kSegments] + other[kSegments]);
  raise(kAll + kReserved, reserved());
  raise_word(index_of(BasisWord::lifetime_peak_reserved_bytes), reserved());
  raise_held();
}

void DeviceStats::raise_held() noexcept {
  const std::uint64_t held = reserved() + other_kinds_;
  word(BasisWord::held_bytes) = held;
  raise(index_of(BasisWord::held_peak_bytes), held);
  raise_word(index_of(BasisWord::lifetime_peak_held_bytes), held);
}

void DeviceStats::add_other_kinds(std::uint64_t size) noexcept {
  other_kinds_ += size;
  raise_held();
}

void DeviceStats::remove_other_kinds(std::uint64_t size) noexcept {
  other_kinds_ -= std::min(size, other_kinds_);
  raise_held();
}

void DeviceStats::set_out_of_memory(const OutOfMemoryRecord& record) noexcept {
  set(BasisWord::oom_time_ns, record.time_ns);
  set(BasisWord::oom_requested_bytes, record.requested.count());
  set(BasisWord::oom_allocated_bytes, record.allocated.count());
  set(BasisWord::oom_reserved_bytes, record.reserved.count());
  set(BasisWord::oom_held_bytes, record.held.count());
  set(BasisWord::oom_device_free_bytes, record.device_free.count());
  set(BasisWord::oom_device_total_bytes, record.device_total.count());
  set(BasisWord::oom_largest_free_block_bytes, record.largest_free_block.count());
  count(BasisWord::oom_count_lifetime);
  count(BasisWord::limit_rejections_lifetime, record.is_above_limit ? 1 : 0);
}

DeviceStats::Currents DeviceStats::currents_of(Pool pool) const noexcept {
  const std::uint64_t* const words = words_of(pool);
  Currents currents{};
  currents[kAllocation] = words[kLiveBlocks];
  currents[kAllocatedBytes] = words[kLiveBytes];
  currents[kRequested] = words[kRequestedBytes];
  currents[kActive] = words[kLiveBlocks] + words[kPendingBlocks];
  currents[kActiveBytes] = words[kLiveBytes] + words[kPendingBytes];
  currents[kSegment] = words[kSegments];
  currents[kReserved] = words[kReservedBytes];
  currents[kInactiveSplit] = words[kSplitBlocks];
  currents[kInactiveSplitBytes] = words[kSplitBytes];
  return currents;
}

// Also into what the other slots have, so that one of a device which came later has counted from the device's
// beginning.
void DeviceStats::fold_watermark() noexcept {
  fold_into(since_start_);
  for (std::size_t word = 0; word < begun_.size(); ++word) {
    for (std::uint64_t rest = begun_[word]; rest != 0; rest &= rest - 1) {
      fold_into(slots_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))]);
    }
  }
  const Currents small = currents_of(Pool::Small);
  const Currents large = currents_of(Pool::Large);
  for (std::size_t stat = 0; stat < kStats; ++stat) {
    watermark_[place_of(BasisWord::peak_all_allocation) + stat] = small[stat] + large[stat];
    watermark_[place_of(BasisWord::peak_small_allocation) + stat] = small[stat];
    watermark_[place_of(BasisWord::peak_large_allocation) + stat] = large[stat];
  }
  watermark_[place_of(BasisWord::peak_oversize_blocks)] = basis_[BasisWord::oversize_blocks];
  watermark_[place_of(BasisWord::peak_oversize_segments)] = basis_[BasisWord::oversize_segments];
  watermark_[place_of(BasisWord::held_peak_bytes)] = reserved() + other_kinds_;
}

void DeviceStats::reset_peaks(std::uint64_t realtime_ns) noexcept {
  fold_watermark();
  std::copy(watermark_.begin(), watermark_.end(), basis_.words.begin() + kFirstPeak);
  set(BasisWord::peak_reset_time_ns, realtime_ns);
  count(BasisWord::peak_resets);
  mark_all_changed();
}

void DeviceStats::reset_accumulated(std::uint64_t realtime_ns) noexcept {
  for (const Pool pool : kPools) {
    const std::size_t base =
        pool == Pool::Small ? index_of(BasisWord::base_small_allocation) : index_of(BasisWord::base_large_allocation);
    const Currents currents = currents_of(pool);
    std::copy(currents.begin(), currents.end(), basis_.words.begin() + static_cast<std::ptrdiff_t>(base));
    std::uint64_t* const words = words_of(pool);
    for (const PoolWord total : {kAllocationsTotal, kAllocatedBytesTotal, kRequestedBytesTotal, kSplitBlocksTotal,
                                 kSplitBytesTotal, kSegmentsTotal, kReservedBytesTotal}) {
      words[total] = 0;
    }
  }
  for (const BasisWord event : kAccumulatedEvents) {
    set(event, 0);
  }
  set(BasisWord::base_oversize_blocks, basis_[BasisWord::oversize_blocks]);
  set(BasisWord::base_oversize_segments, basis_[BasisWord::oversize_segments]);
  set(BasisWord::accumulated_reset_time_ns, realtime_ns);
  mark_all_changed();
}

void DeviceStats::reset_slot(unsigned slot) noexcept {
  fold_watermark();
  slots_[slot] = watermark_;
  begun_[slot / 64] |= std::uint64_t{1} << slot % 64;
}

DeviceStats::Peaks DeviceStats::slot_peaks(unsigned slot) const noexcept {
  const bool is_begun = (begun_[slot / 64] >> slot % 64 & 1) != 0;
  Peaks peaks = is_begun ? slots_[slot] : since_start_;
  fold_into(peaks);
  return peaks;
}

DeviceBasis DeviceStats::basis_since(unsigned slot) const noexcept {
  DeviceBasis basis = basis_;
  const Peaks peaks = slot_peaks(slot);
  std::copy(peaks.begin(), peaks.end(), basis.words.begin() + kFirstPeak);
  return basis;
}

}  // namespace tidemark::alloc
