#include "shared/segment/counter_list.hpp"

#include <algorithm>

namespace tidemark::segment {
namespace {

// Four fields of one statistic in one pool, sorted as PyTorch sorts them.
#define TIDEMARK_FIELDS(prefix, unit, meaning)                                                                       \
  CounterInfo{prefix ".allocated", CounterKind::Total, unit, "All increases so far of: " meaning "."},               \
      CounterInfo{prefix ".current", CounterKind::Gauge, unit, "Now: " meaning "."},                                 \
      CounterInfo{prefix ".freed", CounterKind::Total, unit, "All decreases so far of: " meaning "."}, CounterInfo { \
    prefix ".peak", CounterKind::Peak, unit, "Most since the last peak reset: " meaning "."                          \
  }

#define TIDEMARK_FAMILY(name, unit, meaning)                                                                       \
  TIDEMARK_FIELDS(name ".all", unit, meaning), TIDEMARK_FIELDS(name ".large_pool", unit, meaning " (large pool)"), \
      TIDEMARK_FIELDS(name ".small_pool", unit, meaning " (small pool)")

constexpr auto kCount = CounterUnit::Count;
constexpr auto kBytes = CounterUnit::Bytes;

constexpr std::array<CounterInfo, kStatKeys> kCounterList = {
    TIDEMARK_FAMILY("active", kCount, "blocks in use or freed with device work pending"),
    TIDEMARK_FAMILY("active_bytes", kBytes, "sizes of blocks in use or freed with device work pending"),
    TIDEMARK_FAMILY("allocated_bytes", kBytes, "rounded sizes of blocks in use by the program"),
    TIDEMARK_FAMILY("allocation", kCount, "blocks in use by the program"),
    TIDEMARK_FAMILY("inactive_split", kCount, "free blocks in segments that are partly in use"),
    TIDEMARK_FAMILY("inactive_split_bytes", kBytes, "sizes of free blocks in segments that are partly in use"),
    CounterInfo{"max_split_size", CounterKind::Setting, kBytes,
                "Blocks of this size or more are not split; -1 means no limit."},
    CounterInfo{"num_alloc_retries", CounterKind::Total, kCount,
                "Allocations that were tried again after the whole cache had been given back."},
    CounterInfo{"num_device_alloc", CounterKind::Total, kCount, "Successful allocations at the driver."},
    CounterInfo{"num_device_free", CounterKind::Total, kCount, "Frees at the driver."},
    CounterInfo{"num_ooms", CounterKind::Total, kCount, "Allocations that failed for want of memory."},
    CounterInfo{"num_sync_all_streams", CounterKind::Total, kCount,
                "Times that all pending device work was waited for to empty the cache."},
    TIDEMARK_FIELDS("oversize_allocations", kCount, "blocks in use of at least max_split_size"),
    TIDEMARK_FIELDS("oversize_segments", kCount, "segments of at least max_split_size"),
    TIDEMARK_FAMILY("requested_bytes", kBytes, "sizes as the program asked for them, until their free is complete"),
    TIDEMARK_FAMILY("reserved_bytes", kBytes, "memory held from the driver, in use or cached"),
    TIDEMARK_FAMILY("segment", kCount, "pieces of memory held from the driver"),
};

#undef TIDEMARK_FAMILY
#undef TIDEMARK_FIELDS

constexpr std::array<CounterInfo, kExtraKeys> kExtraList = {
    CounterInfo{"cache.hits", CounterKind::Total, kCount, "Allocations served from memory that was already held."},
    CounterInfo{"cache.misses", CounterKind::Total, kCount,
                "Allocations for which a new segment was taken from the driver."},
    CounterInfo{"cache.passed_through", CounterKind::Total, kCount,
                "Allocations that the driver made in the program's own size, never cached."},
    CounterInfo{"cache.cached_bytes", CounterKind::Gauge, kBytes, "Free memory in segments held from the driver."},
    CounterInfo{"cache.pending_free_bytes", CounterKind::Gauge, kBytes,
                "Freed by the program, waiting for device work that may still use it."},
    CounterInfo{"cache.pinned_bytes", CounterKind::Gauge, kBytes,
                "Segments exported to others (IPC, dma-buf), which are never used again."},
    CounterInfo{"cache.driver_ns", CounterKind::Total, CounterUnit::Nanoseconds,
                "Time spent in allocations and frees of the driver."},
    CounterInfo{"cache.free_wait_ns", CounterKind::Total, CounterUnit::Nanoseconds,
                "Time spent waiting for the device in frees."},
    CounterInfo{"held.current_bytes", CounterKind::Gauge, kBytes, "Reserved memory and all other kinds on the device."},
    CounterInfo{"held.peak_bytes", CounterKind::Peak, kBytes, "Most held since the last peak reset."},
    CounterInfo{"lifetime_peak.allocated_bytes", CounterKind::Peak, kBytes,
                "Most ever allocated; no reset touches it."},
    CounterInfo{"lifetime_peak.reserved_bytes", CounterKind::Peak, kBytes, "Most ever reserved; no reset touches it."},
    CounterInfo{"lifetime_peak.held_bytes", CounterKind::Peak, kBytes, "Most ever held; no reset touches it."},
};

static_assert(std::ranges::is_sorted(kCounterList, {}, &CounterInfo::key), "PyTorch sorts its flat keys");

}  // namespace

std::span<const CounterInfo, kStatKeys> counter_list() noexcept { return kCounterList; }
std::span<const CounterInfo, kExtraKeys> extra_list() noexcept { return kExtraList; }

const CounterInfo& info_of(StatKey key) noexcept { return kCounterList[static_cast<std::size_t>(key)]; }
const CounterInfo& info_of(ExtraKey key) noexcept { return kExtraList[static_cast<std::size_t>(key)]; }

std::optional<StatKey> find_stat(std::string_view key) noexcept {
  const auto found = std::ranges::lower_bound(kCounterList, key, {}, &CounterInfo::key);
  if (found == kCounterList.end() || found->key != key) {
    return std::nullopt;
  }
  return static_cast<StatKey>(found - kCounterList.begin());
}

}  // namespace tidemark::segment
