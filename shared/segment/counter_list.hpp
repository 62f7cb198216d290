// The one list of counters: PyTorch's 122 flat keys, in PyTorch's order (sorted), each with its kind, unit and meaning;
// and the numbers of ours beside them. The values come from a DeviceBasis (derive.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tidemark::segment {

enum class CounterKind {
  Gauge,    // goes up and down
  Total,    // only grows, until reset-accumulated
  Peak,     // highest gauge since reset-peak
  Setting,  // configured, not counted
};

enum class CounterUnit { Count, Bytes, Nanoseconds };

struct CounterInfo {
  std::string_view key;
  CounterKind kind;
  CounterUnit unit;
  std::string_view meaning;  // one sentence
};

// Index into counter_list().
enum class StatKey : std::uint32_t {};
inline constexpr std::size_t kStatKeys = 122;

[[nodiscard]] std::span<const CounterInfo, kStatKeys> counter_list() noexcept;
[[nodiscard]] const CounterInfo& info_of(StatKey key) noexcept;
// Exactly PyTorch's name: "allocated_bytes.all.current".
[[nodiscard]] std::optional<StatKey> find_stat(std::string_view key) noexcept;

// What Tidemark counts beside PyTorch's keys. Order and names as in counter_list's sibling extra_list().
enum class ExtraKey : std::uint32_t {
  CacheHits,
  CacheMisses,
  CachePassedThrough,
  CacheCachedBytes,
  CachePendingFreeBytes,
  CachePinnedBytes,
  CacheDriverNs,
  CacheFreeWaitNs,
  HeldCurrentBytes,
  HeldPeakBytes,
  LifetimePeakAllocatedBytes,
  LifetimePeakReservedBytes,
  LifetimePeakHeldBytes,
};
inline constexpr std::size_t kExtraKeys = 13;

// "cache.hits", "held.current_bytes", "lifetime_peak.allocated_bytes", ...: the group and the name of INTERFACE's JSON.
[[nodiscard]] std::span<const CounterInfo, kExtraKeys> extra_list() noexcept;
[[nodiscard]] const CounterInfo& info_of(ExtraKey key) noexcept;

}  // namespace tidemark::segment
