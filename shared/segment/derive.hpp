// Every published number of a device, derived from its basis. Viewer, client and tests derive here and nowhere else.
//
// all = small + large (not for peaks); active = allocated + pending; freed = total - current + base.
#pragma once

#include <cstdint>
#include <optional>

#include "shared/base/device_basis.hpp"
#include "shared/segment/counter_list.hpp"

namespace tidemark::segment {

// PyTorch's value. int64 as in PyTorch; max_split_size is -1 for unlimited.
[[nodiscard]] std::int64_t stat_value(const DeviceBasis& basis, StatKey key) noexcept;
[[nodiscard]] std::int64_t extra_value(const DeviceBasis& basis, ExtraKey key) noexcept;

// The cache's numbers under INTERFACE's names.
struct CacheNumbers {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t passed_through = 0;
  std::int64_t cached_bytes = 0;        // free bytes in segments of ours, pinned ones included
  std::int64_t pending_free_bytes = 0;  // freed by the program, device work not yet known to be done
  std::int64_t pinned_bytes = 0;
  std::int64_t driver_ns = 0;
  std::int64_t free_wait_ns = 0;
};
[[nodiscard]] CacheNumbers cache_numbers(const DeviceBasis& basis) noexcept;

// What must hold in every consistent snapshot.
enum class Invariant {
  ActiveIsAllocatedPlusPending,
  ReservedIsActivePlusCached,                // with cached >= 0, in each pool
  PeakIsAtLeastCurrent,                      // of all 29 statistics, of held, and of the lifetime peaks over the peaks
  AllocationsAreHitsMissesAndPassedThrough,  // with hits >= 0
  AllIsSmallPlusLarge,                       // current, allocated and freed
  FreedIsNotNegative,                        // freed = total - current + base, in each pool
};
// The first that is broken, or nothing.
[[nodiscard]] std::optional<Invariant> check_invariants(const DeviceBasis& basis) noexcept;
// "reserved = active + cached", ...
[[nodiscard]] const char* to_text(Invariant invariant) noexcept;

}  // namespace tidemark::segment
