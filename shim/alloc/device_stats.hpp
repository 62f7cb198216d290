// The counters of one device: events of the allocator become words of DeviceBasis, by PyTorch's rules (research: which
// event moves which counter), and the lines that changed are remembered until they are published. Sizes in bytes.
// Threads: under the device's lock; only the sink's readers see words without it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "shared/base/device_basis.hpp"
#include "shim/alloc/out_of_memory.hpp"
#include "shim/alloc/size_policy.hpp"
#include "shim/alloc/stats_sink.hpp"

namespace tidemark::alloc {

class DeviceStats {
 public:
  // Every peak that a reset touches, in the order of the basis: held, then PyTorch's 29.
  static constexpr std::size_t kFirstPeak = index_of(BasisWord::held_peak_bytes);
  static constexpr std::size_t kPeaks = index_of(BasisWord::peak_oversize_segments) - kFirstPeak + 1;
  static_assert(kFirstPeak + 1 == index_of(BasisWord::peak_all_allocation) && kPeaks == 30);
  using Peaks = std::array<std::uint64_t, kPeaks>;
  [[nodiscard]] static constexpr std::size_t place_of(BasisWord peak) { return index_of(peak) - kFirstPeak; }

  // Whoever measures peaks of an own interval: the holders of control slots, and open phases.
  static constexpr unsigned kSlots = 31 + 64;

  // Blocks

  void hand_out(Pool pool, std::uint64_t size, std::uint64_t requested) noexcept {
    pool == Pool::Small ? hand_out_of<Pool::Small>(size, requested) : hand_out_of<Pool::Large>(size, requested);
  }
  void begin_free(Pool pool, std::uint64_t size) noexcept {
    pool == Pool::Small ? begin_free_in<Pool::Small>(size) : begin_free_in<Pool::Large>(size);
  }
  void finish_free(Pool pool, std::uint64_t size, std::uint64_t requested) noexcept {
    pool == Pool::Small ? finish_free_in<Pool::Small>(size, requested) : finish_free_in<Pool::Large>(size, requested);
  }

  // A free that the driver refused: live again, as if it had never been asked; the second before finish_free.
  void take_back(Pool pool, std::uint64_t size, std::uint64_t requested) noexcept;

  void undo_begin_free(Pool pool, std::uint64_t size) noexcept;

  void hand_out_oversize() noexcept;
  void free_oversize() noexcept { word(BasisWord::oversize_blocks) -= 1; }
  void take_back_oversize() noexcept;

  // Free blocks in split segments: the net change of one event. There is more to hand out now, in more blocks or, where
  // some were joined, in no more or one less;
  void add_split(Pool pool, std::int64_t blocks, std::uint64_t bytes) noexcept {
    pool == Pool::Small ? add_split_in<Pool::Small>(blocks, bytes) : add_split_in<Pool::Large>(blocks, bytes);
  }
  // or less.
  void take_split(Pool pool, std::uint64_t blocks, std::uint64_t bytes) noexcept {
    std::uint64_t* const words = words_of(pool);
    words[kSplitBlocks] -= blocks;
    words[kSplitBytes] -= bytes;
    changed_ |= bytes != 0 ? segment_line_of(pool) : 0;
  }

  // Segments

  void add_segment(Pool pool, std::uint64_t size, bool oversize) noexcept;
  void remove_segment(Pool pool, std::uint64_t size, bool oversize) noexcept;
  // A removed segment that the driver would not take: current again, but not one more.
  void return_segment(Pool pool, std::uint64_t size, bool oversize) noexcept;

  void add_other_kinds(std::uint64_t size) noexcept;
  void remove_other_kinds(std::uint64_t size) noexcept;

  // Events and settings

  void count(BasisWord event, std::uint64_t by = 1) noexcept { word(event) += by; }
  void set(BasisWord setting, std::uint64_t value) noexcept { word(setting) = value; }
  void set_out_of_memory(const OutOfMemoryRecord& record) noexcept;

  // Resets

  void reset_peaks(std::uint64_t realtime_ns) noexcept;
  void reset_accumulated(std::uint64_t realtime_ns) noexcept;
  void reset_slot(unsigned slot) noexcept;
  // Nobody measures there any more: until it is reset again its peaks are those since the device's start, as they are
  // where it never was. Every reset of a slot pays for those that are measured.
  void end_slot(unsigned slot) noexcept { begun_[slot / 64] &= ~(std::uint64_t{1} << slot % 64); }
  [[nodiscard]] Peaks slot_peaks(unsigned slot) const noexcept;
  // What basis() would say if the peaks had been reset when the slot was.
  [[nodiscard]] DeviceBasis basis_since(unsigned slot) const noexcept;

  // What they say

  [[nodiscard]] const DeviceBasis& basis() const { return basis_; }
  [[nodiscard]] std::uint64_t reserved() const {
    return basis_[BasisWord::small_reserved_bytes] + basis_[BasisWord::large_reserved_bytes];
  }
  [[nodiscard]] std::uint64_t live() const {
    return basis_[BasisWord::small_live_bytes] + basis_[BasisWord::large_live_bytes];
  }
  [[nodiscard]] std::uint64_t active() const {
    return live() + basis_[BasisWord::small_pending_bytes] + basis_[BasisWord::large_pending_bytes];
  }
  [[nodiscard]] std::uint64_t cached() const { return reserved() - active(); }
  [[nodiscard]] std::uint64_t lifetime_peak_active() const { return lifetime_peak_active_; }

  void publish(StatsSink* sink) noexcept {
    if (sink != nullptr && changed_ != 0) {
      sink->publish(basis_, changed_);
    }
    changed_ = 0;
  }
  void mark_all_changed() noexcept { changed_ = kAllBasisLines; }

 private:
  // Places within a pool's two lines, and within each block of statistic words.
  enum PoolWord : unsigned {
    kLiveBlocks,
    kLiveBytes,
    kRequestedBytes,
    kPendingBlocks,
    kPendingBytes,
    kAllocationsTotal,
    kAllocatedBytesTotal,
    kRequestedBytesTotal,
    kSplitBlocks,
    kSplitBytes,
    kSplitBlocksTotal,
    kSplitBytesTotal,
    kSegments,
    kReservedBytes,
    kSegmentsTotal,
    kReservedBytesTotal,
    kPoolWords
  };
  enum Stat : unsigned {
    kAllocation,
    kAllocatedBytes,
    kRequested,
    kActive,
    kActiveBytes,
    kSegment,
    kReserved,
    kInactiveSplit,
    kInactiveSplitBytes,
    kStats
  };
  static_assert(kReservedBytesTotal == index_of(BasisWord::small_reserved_bytes_total));
  static_assert(kPoolWords == index_of(BasisWord::large_live_blocks));
  static_assert(kStats == index_of(BasisWord::peak_small_allocation) - index_of(BasisWord::peak_all_allocation));
  static_assert(kInactiveSplitBytes + index_of(BasisWord::peak_all_allocation) ==
                index_of(BasisWord::peak_all_inactive_split_bytes));
  using Currents = std::array<std::uint64_t, kStats>;

  [[nodiscard]] std::uint64_t& word(BasisWord name) {
    changed_ |= line_of(name);
    return basis_[name];
  }
  [[nodiscard]] std::uint64_t* words_of(Pool pool) {
    return basis_.words.data() + static_cast<unsigned>(pool) * kPoolWords;
  }
  [[nodiscard]] const std::uint64_t* words_of(Pool pool) const {
    return basis_.words.data() + static_cast<unsigned>(pool) * kPoolWords;
  }
  void touch_blocks(Pool pool) { changed_ |= BasisLines{1} << (static_cast<unsigned>(pool) * 2); }
  [[nodiscard]] static constexpr BasisLines segment_line_of(Pool pool) {
    return BasisLines{2} << (static_cast<unsigned>(pool) * 2);
  }
  void touch_segments(Pool pool) { changed_ |= segment_line_of(pool); }

  void raise(std::size_t peak, std::uint64_t value) noexcept {
    std::uint64_t& mark = watermark_[peak - kFirstPeak];
    if (value > mark) {
      mark = value;
      raise_word(peak, value);
    }
  }
  void raise_word(std::size_t peak, std::uint64_t value) noexcept {
    if (value > basis_.words[peak]) {
      basis_.words[peak] = value;
      changed_ |= BasisLines{1} << (peak / kWordsPerLine);
    }
  }
  // One pool each, so that every word has a fixed place: these run on each hit.
  template <Pool kPool>
  void hand_out_of(std::uint64_t size, std::uint64_t requested) noexcept;
  template <Pool kPool>
  void begin_free_in(std::uint64_t size) noexcept;
  template <Pool kPool>
  void finish_free_in(std::uint64_t size, std::uint64_t requested) noexcept;
  template <Pool kPool>
  void add_split_in(std::int64_t blocks, std::uint64_t bytes) noexcept;
  template <Pool kPool>
  void raise_block_peaks() noexcept;
  void raise_each_block_peak(Pool pool) noexcept;
  void raise_segment_peaks(Pool pool) noexcept;
  void raise_held() noexcept;
  [[nodiscard]] static constexpr std::size_t peaks_of(Pool pool) {
    return pool == Pool::Small ? index_of(BasisWord::peak_small_allocation)
                               : index_of(BasisWord::peak_large_allocation);
  }
  [[nodiscard]] static constexpr Pool other_than(Pool pool) { return pool == Pool::Small ? Pool::Large : Pool::Small; }
  [[nodiscard]] Currents currents_of(Pool pool) const noexcept;
  void fold_watermark() noexcept;
  void fold_into(Peaks& slot) const noexcept {
    for (std::size_t peak = 0; peak < kPeaks; ++peak) {
      slot[peak] = std::max(slot[peak], watermark_[peak]);
    }
  }

  DeviceBasis basis_;
  BasisLines changed_ = kAllBasisLines;
  std::uint64_t lifetime_peak_active_ = 0;
  std::uint64_t other_kinds_ = 0;
  // The peaks since any slot or the global peaks were last reset: never above these, so a new one is looked for here
  // first.
  Peaks watermark_{};
  std::array<Peaks, kSlots> slots_{};
  std::array<std::uint64_t, (kSlots + 63) / 64> begun_{};  // bit n: slot n was reset, and its peaks are kept
  Peaks since_start_{};
};

template <Pool kPool>
void DeviceStats::hand_out_of(std::uint64_t size, std::uint64_t requested) noexcept {
  std::uint64_t* const words = words_of(kPool);
  words[kLiveBlocks] += 1;
  words[kLiveBytes] += size;
  words[kRequestedBytes] += requested;
  words[kAllocationsTotal] += 1;
  words[kAllocatedBytesTotal] += size;
  words[kRequestedBytesTotal] += requested;
  touch_blocks(kPool);
  raise_block_peaks<kPool>();
}

template <Pool kPool>
void DeviceStats::begin_free_in(std::uint64_t size) noexcept {
  std::uint64_t* const words = words_of(kPool);
  words[kLiveBlocks] -= 1;
  words[kLiveBytes] -= size;
  words[kPendingBlocks] += 1;
  words[kPendingBytes] += size;
  touch_blocks(kPool);
}

template <Pool kPool>
void DeviceStats::finish_free_in(std::uint64_t size, std::uint64_t requested) noexcept {
  std::uint64_t* const words = words_of(kPool);
  words[kPendingBlocks] -= 1;
  words[kPendingBytes] -= size;
  words[kRequestedBytes] -= requested;
  touch_blocks(kPool);
}

template <Pool kPool>
void DeviceStats::add_split_in(std::int64_t blocks, std::uint64_t bytes) noexcept {
  std::uint64_t* const words = words_of(kPool);
  words[kSplitBlocks] += static_cast<std::uint64_t>(blocks);  // two's complement: adds what is negative, too
  words[kSplitBytes] += bytes;
  words[kSplitBlocksTotal] += blocks > 0 ? 1 : 0;
  words[kSplitBytesTotal] += bytes;
  touch_segments(kPool);
  constexpr std::size_t kAll = index_of(BasisWord::peak_all_allocation);
  constexpr std::size_t kOwn = peaks_of(kPool);
  const std::uint64_t* const other = words_of(other_than(kPool));
  raise(kOwn + kInactiveSplit, words[kSplitBlocks]);
  raise(kOwn + kInactiveSplitBytes, words[kSplitBytes]);
  raise(kAll + kInactiveSplit, words[kSplitBlocks] + other[kSplitBlocks]);
  raise(kAll + kInactiveSplitBytes, words[kSplitBytes] + other[kSplitBytes]);
}

// One look for all of them, as nearly every hit is below every peak.
template <Pool kPool>
void DeviceStats::raise_block_peaks() noexcept {
  constexpr std::size_t kAll = index_of(BasisWord::peak_all_allocation);
  constexpr std::size_t kOwn = peaks_of(kPool);
  const std::uint64_t* const words = words_of(kPool);
  const std::uint64_t* const other = words_of(other_than(kPool));
  const auto mark = [this](std::size_t peak) { return watermark_[peak - kFirstPeak]; };
  const std::uint64_t live = words[kLiveBlocks];
  const std::uint64_t active = live + words[kPendingBlocks];
  const std::uint64_t live_bytes = words[kLiveBytes];
  const std::uint64_t active_bytes = live_bytes + words[kPendingBytes];
  const bool is_below = live <= mark(kOwn + kAllocation) && live_bytes <= mark(kOwn + kAllocatedBytes) &&
                        active <= mark(kOwn + kActive) && active_bytes <= mark(kOwn + kActiveBytes) &&
                        words[kRequestedBytes] <= mark(kOwn + kRequested) &&
                        live + other[kLiveBlocks] <= mark(kAll + kAllocation) &&
                        live_bytes + other[kLiveBytes] <= mark(kAll + kAllocatedBytes) &&
                        active + other[kLiveBlocks] + other[kPendingBlocks] <= mark(kAll + kActive) &&
                        active_bytes + other[kLiveBytes] + other[kPendingBytes] <= mark(kAll + kActiveBytes) &&
                        words[kRequestedBytes] + other[kRequestedBytes] <= mark(kAll + kRequested);
  if (!is_below) [[unlikely]] {
    raise_each_block_peak(kPool);
  }
}

}  // namespace tidemark::alloc
