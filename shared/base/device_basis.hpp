// The basis of one device's counters: the words from which every published number follows.
//
// The allocator keeps them in private memory and changes them under its device lock; shim/publish copies the lines that
// changed into the segment; shared/segment derives PyTorch's keys from them (derive.hpp). So there is one list, here.
//
// Words stand in lines of eight (64 bytes, one cache line). A line holds what changes together: a cache hit touches one
// or two lines, and only these are copied. Words are never reordered or re-used; new ones take a `reserved` place or
// come at the end, with the segment's minor version raised. All are unsigned; sizes in bytes, times in nanoseconds.
//
// Words (s = small pool, l = large pool; "total" counts up from the last reset-accumulated):
//   live      blocks handed out and not yet freed by the program; their rounded sizes
//   requested sizes as asked for, from the hand-out until the free *completes* (PyTorch's rule: life time of `active`)
//   pending   freed by the program, device work not yet known to be done
//   split     free blocks in a segment that is split (PyTorch's inactive_split)
//   base      the current value at the last reset-accumulated: freed = total - current + base
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark {

// clang-format moves the line ends of these lists to and fro.
// clang-format off
#define TIDEMARK_POOL_LINES(X, P)                                                                      \
  X(P##_live_blocks)                                                                                   \
  X(P##_live_bytes)                                                                                    \
  X(P##_requested_bytes) X(P##_pending_blocks) X(P##_pending_bytes) X(P##_allocations_total)           \
      X(P##_allocated_bytes_total) X(P##_requested_bytes_total) X(P##_split_blocks) X(P##_split_bytes) \
          X(P##_split_blocks_total) X(P##_split_bytes_total) X(P##_segments) X(P##_reserved_bytes)     \
              X(P##_segments_total) X(P##_reserved_bytes_total)

// One word a PyTorch statistic, in this order everywhere: peaks (of all, small, large) and bases (of small, large).
#define TIDEMARK_STAT_WORDS(X, P)                                                                                     \
  X(P##_allocation)                                                                                                   \
  X(P##_allocated_bytes)                                                                                              \
  X(P##_requested_bytes) X(P##_active) X(P##_active_bytes) X(P##_segment) X(P##_reserved_bytes) X(P##_inactive_split) \
      X(P##_inactive_split_bytes)

#define TIDEMARK_BASIS_WORDS(X)                                                                                      \
  /* lines 0-1 and 2-3 */                                                                                            \
  TIDEMARK_POOL_LINES(X, small)                                                                                      \
  TIDEMARK_POOL_LINES(X, large)                                                                                      \
  /* line 4: events. Hits are derived: allocations of both pools - misses - passed_through */                        \
  X(misses)                                                                                                          \
  X(passed_through)                                                                                                  \
  X(alloc_retries) X(ooms) X(sync_all_streams) X(device_allocs) X(device_frees)                                      \
      X(free_wait_ns) /* line 5: driver_ns is the time spent in driver allocations and frees, free_wait_ns in strict \
                         frees */                                                                                    \
      X(driver_ns) X(pinned_bytes) X(oversize_blocks) X(oversize_blocks_total) X(oversize_segments)                  \
          X(oversize_segments_total) X(held_bytes)                                                                   \
              X(held_peak_bytes) /* lines 6-9: peaks, reset to the current value, and the lifetime peaks, which      \
                                    nothing resets */                                                                \
      TIDEMARK_STAT_WORDS(X, peak_all) TIDEMARK_STAT_WORDS(X, peak_small) TIDEMARK_STAT_WORDS(X, peak_large)         \
          X(peak_oversize_blocks) X(peak_oversize_segments) X(lifetime_peak_allocated_bytes)                         \
              X(lifetime_peak_reserved_bytes)                                                                        \
                  X(lifetime_peak_held_bytes) /* lines 10-12: bases; times are CLOCK_REALTIME, 0 = never */          \
      TIDEMARK_STAT_WORDS(X, base_small) TIDEMARK_STAT_WORDS(X, base_large) X(base_oversize_blocks)                  \
          X(base_oversize_segments) X(peak_reset_time_ns) X(accumulated_reset_time_ns) X(peak_resets)                \
              X(limit_bytes) /* limit: 0 = none */ /* line 13: max_split_size is an int64 (-1 = unlimited); driver_* \
                                                      as the program's last memory query saw it */                   \
      X(max_split_size) X(capacity_bytes) X(driver_free_bytes) X(driver_total_bytes) X(driver_info_time_ns)          \
          X(oom_count_lifetime) X(mode) X(limit_rejections_lifetime) /* line 14: the last out-of-memory; time 0 = none yet */    \
      X(oom_time_ns) X(oom_requested_bytes) X(oom_allocated_bytes) X(oom_reserved_bytes) X(oom_held_bytes)           \
          X(oom_device_free_bytes) X(oom_device_total_bytes) X(oom_largest_free_block_bytes)
// clang-format on

enum class BasisWord : std::uint32_t {
#define X(name) name,
  TIDEMARK_BASIS_WORDS(X)
#undef X
      count_
};

inline constexpr std::size_t kBasisWords = static_cast<std::size_t>(BasisWord::count_);
inline constexpr std::size_t kWordsPerLine = 8;
inline constexpr std::size_t kBasisLines = kBasisWords / kWordsPerLine;
static_assert(kBasisWords == 120 && kBasisWords % kWordsPerLine == 0);

// A set of lines: bit n = line n.
using BasisLines = std::uint32_t;
inline constexpr BasisLines kAllBasisLines = (BasisLines{1} << kBasisLines) - 1;

[[nodiscard]] constexpr std::size_t index_of(BasisWord word) { return static_cast<std::size_t>(word); }
[[nodiscard]] constexpr BasisLines line_of(BasisWord word) { return BasisLines{1} << (index_of(word) / kWordsPerLine); }

struct alignas(64) DeviceBasis {
  std::array<std::uint64_t, kBasisWords> words{};

  [[nodiscard]] constexpr std::uint64_t& operator[](BasisWord word) { return words[index_of(word)]; }
  [[nodiscard]] constexpr std::uint64_t operator[](BasisWord word) const { return words[index_of(word)]; }
};
static_assert(sizeof(DeviceBasis) == 960);

static_assert(index_of(BasisWord::large_live_blocks) == 16 && index_of(BasisWord::misses) == 32);
static_assert(index_of(BasisWord::driver_ns) == 40 && index_of(BasisWord::peak_all_allocation) == 48);
static_assert(index_of(BasisWord::base_small_allocation) == 80 && index_of(BasisWord::max_split_size) == 104);
static_assert(index_of(BasisWord::oom_time_ns) == 112);

// What the process does with this device's requests; BasisWord::mode holds it.
enum class DeviceMode : std::uint64_t {
  Cache = 0,
  Count = 1,        // never cached; the counters are the same
  PassThrough = 2,  // the device's state is unknown (sticky error): forwarded and counted
};

}  // namespace tidemark
