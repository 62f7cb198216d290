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
  struct Peaks {
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;
    std::uint64_t held = 0;
  };
  static constexpr unsigned kSlots = 31;

  // Blocks

  void hand_out(Pool pool, std::uint64_t size, std::uint64_t requested) noexcept {
    std::uint64_t* const words = words_of(pool);
    words[kLiveBlocks] += 1;
    words[kLiveBytes] += size;
    words[kRequestedBytes] += requested;
    words[kAllocationsTotal] += 1;
    words[kAllocatedBytesTotal] += size;
    words[kRequestedBytesTotal] += requested;
    touch_blocks(pool);
    raise_block_peaks(pool);
  }

  void begin_free(Pool pool, std::uint64_t size) noexcept {
    std::uint64_t* const words = words_of(pool);
    words[kLiveBlocks] -= 1;
    words[kLiveBytes] -= size;
    words[kPendingBlocks] += 1;
    words[kPendingBytes] += size;
    touch_blocks(pool);
  }

  void finish_free(Pool pool, std::uint64_t size, std::uint64_t requested) noexcept {
    std::uint64_t* const words = words_of(pool);
    words[kPendingBlocks] -= 1;
    words[kPendingBytes] -= size;
    words[kRequestedBytes] -= requested;
    touch_blocks(pool);
  }

  // A free that the driver refused: live again, as if it had never been asked.
  void take_back(Pool pool, std::uint64_t size, std::uint64_t requested) noexcept;

  void hand_out_oversize() noexcept;
  void free_oversize() noexcept { word(BasisWord::oversize_blocks) -= 1; }
  void take_back_oversize() noexcept;

  // Free blocks in split segments: the net change of one event.
  void change_split(Pool pool, std::int64_t blocks, std::int64_t bytes) noexcept;

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
  [[nodiscard]] Peaks slot_peaks(unsigned slot) const noexcept;

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
  void touch_segments(Pool pool) { changed_ |= BasisLines{2} << (static_cast<unsigned>(pool) * 2); }

  void raise(std::size_t peak, std::uint64_t value) noexcept {
    if (value > basis_.words[peak]) {
      basis_.words[peak] = value;
      changed_ |= BasisLines{1} << (peak / kWordsPerLine);
    }
  }
  void raise_block_peaks(Pool pool) noexcept;
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

  DeviceBasis basis_;
  BasisLines changed_ = kAllBasisLines;
  std::uint64_t lifetime_peak_active_ = 0;
  std::uint64_t other_kinds_ = 0;
  // The peaks since any slot or the global peak was last reset: never above these, so a new one is looked for here
  // first.
  Peaks watermark_;
  std::array<Peaks, kSlots> slots_{};
};

// Active is allocated and pending, so where it is no higher than the peak of allocated, both are below their peaks: one
// look instead of two, in the case of nearly every hit.
inline void DeviceStats::raise_block_peaks(Pool pool) noexcept {
  constexpr std::size_t kAll = index_of(BasisWord::peak_all_allocation);
  const std::size_t own = peaks_of(pool);
  const std::uint64_t* const words = words_of(pool);
  const std::uint64_t* const other = words_of(other_than(pool));
  const std::uint64_t active = words[kLiveBlocks] + words[kPendingBlocks];
  const std::uint64_t active_bytes = words[kLiveBytes] + words[kPendingBytes];
  const std::uint64_t all_active_bytes = active_bytes + other[kLiveBytes] + other[kPendingBytes];
  const std::uint64_t* const peaks = basis_.words.data();
  const bool is_below = active <= peaks[own + kAllocation] && active_bytes <= peaks[own + kAllocatedBytes] &&
                        words[kRequestedBytes] <= peaks[own + kRequested] &&
                        active + other[kLiveBlocks] + other[kPendingBlocks] <= peaks[kAll + kAllocation] &&
                        words[kRequestedBytes] + other[kRequestedBytes] <= peaks[kAll + kRequested] &&
                        all_active_bytes <= watermark_.allocated;
  if (!is_below) [[unlikely]] {
    raise_each_block_peak(pool);
  }
}

// The net change of free blocks in split segments by one event.
inline void DeviceStats::change_split(Pool pool, std::int64_t blocks, std::int64_t bytes) noexcept {
  if ((blocks | bytes) == 0) {
    return;
  }
  std::uint64_t* const words = words_of(pool);
  words[kSplitBlocks] += static_cast<std::uint64_t>(blocks);  // two's complement: adds what is negative, too
  words[kSplitBytes] += static_cast<std::uint64_t>(bytes);
  if (blocks > 0 || bytes > 0) {
    words[kSplitBlocksTotal] += blocks > 0 ? static_cast<std::uint64_t>(blocks) : 0;
    words[kSplitBytesTotal] += bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
    constexpr std::size_t kAll = index_of(BasisWord::peak_all_allocation);
    const std::size_t own = peaks_of(pool);
    const std::uint64_t* const other = words_of(other_than(pool));
    raise(own + kInactiveSplit, words[kSplitBlocks]);
    raise(own + kInactiveSplitBytes, words[kSplitBytes]);
    raise(kAll + kInactiveSplit, words[kSplitBlocks] + other[kSplitBlocks]);
    raise(kAll + kInactiveSplitBytes, words[kSplitBytes] + other[kSplitBytes]);
  }
  touch_segments(pool);
}

}  // namespace tidemark::alloc
