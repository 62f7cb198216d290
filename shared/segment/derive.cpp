#include "shared/segment/derive.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tidemark::segment {
namespace {

enum class Pool { All, Large, Small };
enum class Field { Allocated, Current, Freed, Peak };

// PyTorch's statistics in the order of TIDEMARK_STAT_WORDS; the two oversize ones have no pools.
enum class Family : std::size_t {
  Allocation,
  AllocatedBytes,
  RequestedBytes,
  Active,
  ActiveBytes,
  Segment,
  ReservedBytes,
  InactiveSplit,
  InactiveSplitBytes,
  OversizeBlocks,
  OversizeSegments,
};
constexpr std::size_t kPooledFamilies = 9;
constexpr std::size_t kFamilies = 11;
constexpr std::array kPools = {Pool::All, Pool::Small, Pool::Large};

constexpr BasisWord offset_by(BasisWord word, std::size_t distance) {
  return static_cast<BasisWord>(index_of(word) + distance);
}
static_assert(offset_by(BasisWord::peak_all_allocation, 8) == BasisWord::peak_all_inactive_split_bytes);
static_assert(offset_by(BasisWord::base_large_allocation, 3) == BasisWord::base_large_active);

// Both pools have the same words in the same order; those of the large pool begin here.
constexpr std::size_t kToLargePool = index_of(BasisWord::large_live_blocks) - index_of(BasisWord::small_live_blocks);
static_assert(offset_by(BasisWord::small_reserved_bytes_total, kToLargePool) == BasisWord::large_reserved_bytes_total);

class Derivation {
 public:
  explicit Derivation(const DeviceBasis& basis) : basis_(basis) {}

  std::int64_t value(Family family, Pool pool, Field field) const {
    if (field == Field::Peak) {
      return peak(family, pool);
    }
    if (pool == Pool::All && static_cast<std::size_t>(family) < kPooledFamilies) {
      return value(family, Pool::Small, field) + value(family, Pool::Large, field);
    }
    switch (field) {
      case Field::Allocated:
        return total(family, pool);
      case Field::Current:
        return current(family, pool);
      case Field::Freed:
        return total(family, pool) - current(family, pool) + base(family, pool);
      case Field::Peak:
        break;
    }
    return 0;
  }

 private:
  std::int64_t word(BasisWord w) const { return static_cast<std::int64_t>(basis_[w]); }
  std::int64_t word(BasisWord small, Pool pool) const {
    return word(pool == Pool::Large ? offset_by(small, kToLargePool) : small);
  }

  std::int64_t current(Family family, Pool pool) const {
    switch (family) {
      case Family::Allocation:
        return word(BasisWord::small_live_blocks, pool);
      case Family::AllocatedBytes:
        return word(BasisWord::small_live_bytes, pool);
      case Family::RequestedBytes:
        return word(BasisWord::small_requested_bytes, pool);
      case Family::Active:
        return word(BasisWord::small_live_blocks, pool) + word(BasisWord::small_pending_blocks, pool);
      case Family::ActiveBytes:
        return word(BasisWord::small_live_bytes, pool) + word(BasisWord::small_pending_bytes, pool);
      case Family::Segment:
        return word(BasisWord::small_segments, pool);
      case Family::ReservedBytes:
        return word(BasisWord::small_reserved_bytes, pool);
      case Family::InactiveSplit:
        return word(BasisWord::small_split_blocks, pool);
      case Family::InactiveSplitBytes:
        return word(BasisWord::small_split_bytes, pool);
      case Family::OversizeBlocks:
        return word(BasisWord::oversize_blocks);
      case Family::OversizeSegments:
        return word(BasisWord::oversize_segments);
    }
    return 0;
  }

  // A block becomes active when it is handed out, so both share a total.
  std::int64_t total(Family family, Pool pool) const {
    switch (family) {
      case Family::Allocation:
      case Family::Active:
        return word(BasisWord::small_allocations_total, pool);
      case Family::AllocatedBytes:
      case Family::ActiveBytes:
        return word(BasisWord::small_allocated_bytes_total, pool);
      case Family::RequestedBytes:
        return word(BasisWord::small_requested_bytes_total, pool);
      case Family::Segment:
        return word(BasisWord::small_segments_total, pool);
      case Family::ReservedBytes:
        return word(BasisWord::small_reserved_bytes_total, pool);
      case Family::InactiveSplit:
        return word(BasisWord::small_split_blocks_total, pool);
      case Family::InactiveSplitBytes:
        return word(BasisWord::small_split_bytes_total, pool);
      case Family::OversizeBlocks:
        return word(BasisWord::oversize_blocks_total);
      case Family::OversizeSegments:
        return word(BasisWord::oversize_segments_total);
    }
    return 0;
  }

  std::int64_t base(Family family, Pool pool) const {
    switch (family) {
      case Family::OversizeBlocks:
        return word(BasisWord::base_oversize_blocks);
      case Family::OversizeSegments:
        return word(BasisWord::base_oversize_segments);
      default:
        break;
    }
    const auto first = pool == Pool::Large ? BasisWord::base_large_allocation : BasisWord::base_small_allocation;
    return word(offset_by(first, static_cast<std::size_t>(family)));
  }

  std::int64_t peak(Family family, Pool pool) const {
    switch (family) {
      case Family::OversizeBlocks:
        return word(BasisWord::peak_oversize_blocks);
      case Family::OversizeSegments:
        return word(BasisWord::peak_oversize_segments);
      default:
        break;
    }
    constexpr std::array kFirst = {BasisWord::peak_all_allocation, BasisWord::peak_large_allocation,
                                   BasisWord::peak_small_allocation};
    return word(offset_by(kFirst[static_cast<std::size_t>(pool)], static_cast<std::size_t>(family)));
  }

  const DeviceBasis& basis_;
};

// What stands at an index of counter_list(): a statistic, or a plain word.
struct Place {
  bool is_plain = false;
  BasisWord plain = BasisWord::max_split_size;
  Family family = Family::Allocation;
  Pool pool = Pool::All;
  Field field = Field::Current;
};

constexpr std::array<Place, kStatKeys> places() {
  std::array<Place, kStatKeys> result{};
  std::size_t next = 0;
  const auto fields = [&](Family family, Pool pool) {
    for (const Field field : {Field::Allocated, Field::Current, Field::Freed, Field::Peak}) {
      result[next++] = Place{.family = family, .pool = pool, .field = field};
    }
  };
  const auto pools = [&](Family family) {
    for (const Pool pool : {Pool::All, Pool::Large, Pool::Small}) {
      fields(family, pool);
    }
  };
  const auto plain = [&](BasisWord word) { result[next++] = Place{.is_plain = true, .plain = word}; };

  pools(Family::Active);
  pools(Family::ActiveBytes);
  pools(Family::AllocatedBytes);
  pools(Family::Allocation);
  pools(Family::InactiveSplit);
  pools(Family::InactiveSplitBytes);
  plain(BasisWord::max_split_size);
  plain(BasisWord::alloc_retries);
  plain(BasisWord::device_allocs);
  plain(BasisWord::device_frees);
  plain(BasisWord::ooms);
  plain(BasisWord::sync_all_streams);
  fields(Family::OversizeBlocks, Pool::All);
  fields(Family::OversizeSegments, Pool::All);
  pools(Family::RequestedBytes);
  pools(Family::ReservedBytes);
  pools(Family::Segment);
  return result;
}
constexpr std::array<Place, kStatKeys> kPlaces = places();
static_assert(kPlaces.back().family == Family::Segment && kPlaces.back().field == Field::Peak);

std::int64_t signed_word(const DeviceBasis& basis, BasisWord word) { return static_cast<std::int64_t>(basis[word]); }

bool is_active_allocated_plus_pending(const DeviceBasis& basis, const Derivation& derived, const CacheNumbers& cache) {
  const auto current = [&derived](Family family) { return derived.value(family, Pool::All, Field::Current); };
  const std::int64_t pending_blocks =
      signed_word(basis, BasisWord::small_pending_blocks) + signed_word(basis, BasisWord::large_pending_blocks);
  return pending_blocks >= 0 && cache.pending_free_bytes >= 0 &&
         current(Family::Active) == current(Family::Allocation) + pending_blocks &&
         current(Family::ActiveBytes) == current(Family::AllocatedBytes) + cache.pending_free_bytes;
}

bool are_peaks_at_least_current(const DeviceBasis& basis, const Derivation& derived) {
  for (std::size_t i = 0; i < kFamilies; ++i) {
    for (const Pool pool : kPools) {
      const auto family = static_cast<Family>(i);
      if (derived.value(family, pool, Field::Peak) < derived.value(family, pool, Field::Current)) {
        return false;
      }
    }
  }
  return basis[BasisWord::held_peak_bytes] >= basis[BasisWord::held_bytes] &&
         basis[BasisWord::lifetime_peak_allocated_bytes] >= basis[BasisWord::peak_all_allocated_bytes] &&
         basis[BasisWord::lifetime_peak_reserved_bytes] >= basis[BasisWord::peak_all_reserved_bytes] &&
         basis[BasisWord::lifetime_peak_held_bytes] >= basis[BasisWord::held_peak_bytes];
}

}  // namespace

std::int64_t stat_value(const DeviceBasis& basis, StatKey key) noexcept {
  const Place& place = kPlaces[static_cast<std::size_t>(key)];
  if (place.is_plain) {
    return signed_word(basis, place.plain);
  }
  return Derivation{basis}.value(place.family, place.pool, place.field);
}

CacheNumbers cache_numbers(const DeviceBasis& basis) noexcept {
  const Derivation derived{basis};
  const auto allocations = derived.value(Family::Allocation, Pool::All, Field::Allocated);
  const auto misses = signed_word(basis, BasisWord::misses);
  const auto passed_through = signed_word(basis, BasisWord::passed_through);
  return {
      .hits = allocations - misses - passed_through,
      .misses = misses,
      .passed_through = passed_through,
      .cached_bytes = derived.value(Family::ReservedBytes, Pool::All, Field::Current) -
                      derived.value(Family::ActiveBytes, Pool::All, Field::Current),
      .pending_free_bytes =
          signed_word(basis, BasisWord::small_pending_bytes) + signed_word(basis, BasisWord::large_pending_bytes),
      .pinned_bytes = signed_word(basis, BasisWord::pinned_bytes),
      .driver_ns = signed_word(basis, BasisWord::driver_ns),
      .free_wait_ns = signed_word(basis, BasisWord::free_wait_ns),
  };
}

std::int64_t extra_value(const DeviceBasis& basis, ExtraKey key) noexcept {
  switch (key) {
    case ExtraKey::CacheHits:
      return cache_numbers(basis).hits;
    case ExtraKey::CacheMisses:
      return cache_numbers(basis).misses;
    case ExtraKey::CachePassedThrough:
      return cache_numbers(basis).passed_through;
    case ExtraKey::CacheCachedBytes:
      return cache_numbers(basis).cached_bytes;
    case ExtraKey::CachePendingFreeBytes:
      return cache_numbers(basis).pending_free_bytes;
    case ExtraKey::CachePinnedBytes:
      return cache_numbers(basis).pinned_bytes;
    case ExtraKey::CacheDriverNs:
      return cache_numbers(basis).driver_ns;
    case ExtraKey::CacheFreeWaitNs:
      return cache_numbers(basis).free_wait_ns;
    case ExtraKey::HeldCurrentBytes:
      return signed_word(basis, BasisWord::held_bytes);
    case ExtraKey::HeldPeakBytes:
      return signed_word(basis, BasisWord::held_peak_bytes);
    case ExtraKey::LifetimePeakAllocatedBytes:
      return signed_word(basis, BasisWord::lifetime_peak_allocated_bytes);
    case ExtraKey::LifetimePeakReservedBytes:
      return signed_word(basis, BasisWord::lifetime_peak_reserved_bytes);
    case ExtraKey::LifetimePeakHeldBytes:
      return signed_word(basis, BasisWord::lifetime_peak_held_bytes);
  }
  return 0;
}

std::optional<Invariant> check_invariants(const DeviceBasis& basis) noexcept {
  const Derivation derived{basis};
  const CacheNumbers cache = cache_numbers(basis);
  if (!is_active_allocated_plus_pending(basis, derived, cache)) {
    return Invariant::ActiveIsAllocatedPlusPending;
  }
  for (const Pool pool : kPools) {
    if (derived.value(Family::ReservedBytes, pool, Field::Current) <
        derived.value(Family::ActiveBytes, pool, Field::Current)) {
      return Invariant::ReservedIsActivePlusCached;
    }
  }
  if (!are_peaks_at_least_current(basis, derived)) {
    return Invariant::PeakIsAtLeastCurrent;
  }
  if (cache.hits < 0) {
    return Invariant::AllocationsAreHitsMissesAndPassedThrough;
  }
  for (std::size_t i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    for (const Field field : {Field::Allocated, Field::Current, Field::Freed}) {
      if (i < kPooledFamilies &&
          derived.value(family, Pool::All, field) !=
              derived.value(family, Pool::Small, field) + derived.value(family, Pool::Large, field)) {
        return Invariant::AllIsSmallPlusLarge;
      }
    }
    for (const Pool pool : kPools) {
      if (derived.value(family, pool, Field::Freed) < 0) {
        return Invariant::FreedIsNotNegative;
      }
    }
  }
  return std::nullopt;
}

const char* to_text(Invariant invariant) noexcept {
  switch (invariant) {
    case Invariant::ActiveIsAllocatedPlusPending:
      return "active = allocated + pending";
    case Invariant::ReservedIsActivePlusCached:
      return "reserved = active + cached";
    case Invariant::PeakIsAtLeastCurrent:
      return "peak >= current";
    case Invariant::AllocationsAreHitsMissesAndPassedThrough:
      return "allocated = hits + misses + passed_through";
    case Invariant::AllIsSmallPlusLarge:
      return "all = small + large";
    case Invariant::FreedIsNotNegative:
      return "freed >= 0";
  }
  return "?";
}

}  // namespace tidemark::segment
