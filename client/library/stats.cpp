#include "client/library/stats.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "client/library/failure.hpp"
#include "shared/segment/derive.hpp"

namespace tidemark::client {
namespace {

using segment::ExtraKey;

// The keys are of the fixed list.
std::int64_t value(const DeviceBasis& basis, const std::string& key) {
  return segment::stat_value(basis, *segment::find_stat(key));
}

tidemark_stat stat(const DeviceBasis& basis, const std::string& prefix) {
  return {.current = value(basis, prefix + ".current"),
          .peak = value(basis, prefix + ".peak"),
          .allocated = value(basis, prefix + ".allocated"),
          .freed = value(basis, prefix + ".freed")};
}

tidemark_stat_array stats(const DeviceBasis& basis, const std::string& family) {
  return {.all = stat(basis, family + ".all"),
          .small_pool = stat(basis, family + ".small_pool"),
          .large_pool = stat(basis, family + ".large_pool")};
}

tidemark_device_stats whole_stats(const DeviceBasis& basis) {
  const auto extra = [&basis](ExtraKey key) { return segment::extra_value(basis, key); };
  tidemark_device_stats all{};
  all.allocation = stats(basis, "allocation");
  all.allocated_bytes = stats(basis, "allocated_bytes");
  all.requested_bytes = stats(basis, "requested_bytes");
  all.active = stats(basis, "active");
  all.active_bytes = stats(basis, "active_bytes");
  all.segment = stats(basis, "segment");
  all.reserved_bytes = stats(basis, "reserved_bytes");
  all.inactive_split = stats(basis, "inactive_split");
  all.inactive_split_bytes = stats(basis, "inactive_split_bytes");
  all.oversize_allocations = stat(basis, "oversize_allocations");
  all.oversize_segments = stat(basis, "oversize_segments");
  all.num_alloc_retries = value(basis, "num_alloc_retries");
  all.num_ooms = value(basis, "num_ooms");
  all.num_sync_all_streams = value(basis, "num_sync_all_streams");
  all.num_device_alloc = value(basis, "num_device_alloc");
  all.num_device_free = value(basis, "num_device_free");
  all.max_split_size = value(basis, "max_split_size");
  all.cache_hits = extra(ExtraKey::CacheHits);
  all.cache_misses = extra(ExtraKey::CacheMisses);
  all.cache_passed_through = extra(ExtraKey::CachePassedThrough);
  all.cache_cached_bytes = extra(ExtraKey::CacheCachedBytes);
  all.cache_pending_free_bytes = extra(ExtraKey::CachePendingFreeBytes);
  all.cache_pinned_bytes = extra(ExtraKey::CachePinnedBytes);
  all.cache_driver_ns = extra(ExtraKey::CacheDriverNs);
  all.cache_free_wait_ns = extra(ExtraKey::CacheFreeWaitNs);
  all.held_current_bytes = extra(ExtraKey::HeldCurrentBytes);
  all.held_peak_bytes = extra(ExtraKey::HeldPeakBytes);
  all.lifetime_peak_allocated_bytes = extra(ExtraKey::LifetimePeakAllocatedBytes);
  all.lifetime_peak_reserved_bytes = extra(ExtraKey::LifetimePeakReservedBytes);
  all.lifetime_peak_held_bytes = extra(ExtraKey::LifetimePeakHeldBytes);
  all.capacity_bytes = static_cast<std::int64_t>(basis[BasisWord::capacity_bytes]);
  all.limit_bytes = static_cast<std::int64_t>(basis[BasisWord::limit_bytes]);
  return all;
}

void copy_as_far_as_it_reaches(const tidemark_device_stats& from, tidemark_device_stats& to) {
  constexpr std::size_t kFirst = offsetof(tidemark_device_stats, allocation);
  const std::size_t size = to.size;
  if (size < kFirst || size % sizeof(std::int64_t) != 0) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT, "the structure's size is " + std::to_string(size) +
                                                       "; set it to sizeof(tidemark_device_stats) before the call");
  }
  std::memcpy(reinterpret_cast<char*>(&to) + kFirst, reinterpret_cast<const char*>(&from) + kFirst,
              std::min(size, sizeof from) - kFirst);
}

// Index of an ExtraKey, or kExtraKeys.
std::size_t find_extra(std::string_view key) {
  const auto list = segment::extra_list();
  const auto found = std::find_if(list.begin(), list.end(), [key](const auto& info) { return info.key == key; });
  return static_cast<std::size_t>(found - list.begin());
}

}  // namespace

void fill_stats(const DeviceBasis& basis, tidemark_device_stats& out) {
  copy_as_far_as_it_reaches(whole_stats(basis), out);
}

void clear_stats(tidemark_device_stats& out) { copy_as_far_as_it_reaches(tidemark_device_stats{}, out); }

void check_key(const char* key) {
  require(key, "key");
  if (!segment::find_stat(key) && find_extra(key) == segment::kExtraKeys) {
    throw Failure(TIDEMARK_ERROR_INVALID_ARGUMENT,
                  "no counter " + quoted(key) +
                      "; allowed: PyTorch's keys (allocated_bytes.all.current, num_ooms, ...), cache.*, held.*, "
                      "lifetime_peak.*");
  }
}

std::int64_t stat_of(const DeviceBasis& basis, const char* key) {
  check_key(key);
  if (const auto known = segment::find_stat(key)) {
    return segment::stat_value(basis, *known);
  }
  return segment::extra_value(basis, static_cast<ExtraKey>(find_extra(key)));
}

}  // namespace tidemark::client
