// What must hold in every consistent snapshot.
#include <array>
#include <cstddef>

#include "shared/segment/derivation.hpp"
#include "shared/segment/derive.hpp"

namespace tidemark::segment {
namespace {

// a = b + c, without overflow whatever the numbers.
bool is_sum(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::uint64_t>(a) == static_cast<std::uint64_t>(b) + static_cast<std::uint64_t>(c);
}

bool is_active_allocated_plus_pending(const DeviceBasis& basis, const Derivation& derived, const CacheNumbers& cache) {
  const auto current = [&derived](Family family) { return derived.value(family, Pool::All, Field::Current); };
  const auto pending_blocks =
      static_cast<std::int64_t>(basis[BasisWord::small_pending_blocks] + basis[BasisWord::large_pending_blocks]);
  return pending_blocks >= 0 && cache.pending_free_bytes >= 0 &&
         is_sum(current(Family::Active), current(Family::Allocation), pending_blocks) &&
         is_sum(current(Family::ActiveBytes), current(Family::AllocatedBytes), cache.pending_free_bytes);
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
          !is_sum(derived.value(family, Pool::All, field), derived.value(family, Pool::Small, field),
                  derived.value(family, Pool::Large, field))) {
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
