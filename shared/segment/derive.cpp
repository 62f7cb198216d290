#include "shared/segment/derive.hpp"

#include <array>
#include <cstddef>

#include "shared/segment/derivation.hpp"

namespace tidemark::segment {
namespace {

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
  const auto all = [&derived](Family family, Field field) {
    return static_cast<std::uint64_t>(derived.value(family, Pool::All, field));
  };
  const auto to_signed = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  return {
      .hits = to_signed(all(Family::Allocation, Field::Allocated) - basis[BasisWord::misses] -
                        basis[BasisWord::passed_through]),
      .misses = to_signed(basis[BasisWord::misses]),
      .passed_through = to_signed(basis[BasisWord::passed_through]),
      .cached_bytes = to_signed(all(Family::ReservedBytes, Field::Current) - all(Family::ActiveBytes, Field::Current)),
      .pending_free_bytes = to_signed(basis[BasisWord::small_pending_bytes] + basis[BasisWord::large_pending_bytes]),
      .pinned_bytes = to_signed(basis[BasisWord::pinned_bytes]),
      .driver_ns = to_signed(basis[BasisWord::driver_ns]),
      .free_wait_ns = to_signed(basis[BasisWord::free_wait_ns]),
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

}  // namespace tidemark::segment
