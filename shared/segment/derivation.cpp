#include "shared/segment/derivation.hpp"

namespace tidemark::segment {
namespace {

constexpr BasisWord offset_by(BasisWord word, std::size_t distance) {
  return static_cast<BasisWord>(index_of(word) + distance);
}
static_assert(offset_by(BasisWord::peak_all_allocation, 8) == BasisWord::peak_all_inactive_split_bytes);
static_assert(offset_by(BasisWord::base_large_allocation, 3) == BasisWord::base_large_active);

// Both pools have the same words in the same order; those of the large pool begin here.
constexpr std::size_t kToLargePool = index_of(BasisWord::large_live_blocks) - index_of(BasisWord::small_live_blocks);
static_assert(offset_by(BasisWord::small_reserved_bytes_total, kToLargePool) == BasisWord::large_reserved_bytes_total);

}  // namespace

std::uint64_t Derivation::wrapped(Family family, Pool pool, Field field) const noexcept {
  if (field == Field::Peak) {
    return peak(family, pool);
  }
  if (pool == Pool::All && static_cast<std::size_t>(family) < kPooledFamilies) {
    return wrapped(family, Pool::Small, field) + wrapped(family, Pool::Large, field);
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

std::uint64_t Derivation::word(BasisWord small, Pool pool) const noexcept {
  return basis_[pool == Pool::Large ? offset_by(small, kToLargePool) : small];
}

std::uint64_t Derivation::current(Family family, Pool pool) const noexcept {
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
      return basis_[BasisWord::oversize_blocks];
    case Family::OversizeSegments:
      return basis_[BasisWord::oversize_segments];
  }
  return 0;
}

// A block becomes active when it is handed out, so both share a total.
std::uint64_t Derivation::total(Family family, Pool pool) const noexcept {
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
      return basis_[BasisWord::oversize_blocks_total];
    case Family::OversizeSegments:
      return basis_[BasisWord::oversize_segments_total];
  }
  return 0;
}

std::uint64_t Derivation::base(Family family, Pool pool) const noexcept {
  switch (family) {
    case Family::OversizeBlocks:
      return basis_[BasisWord::base_oversize_blocks];
    case Family::OversizeSegments:
      return basis_[BasisWord::base_oversize_segments];
    default:
      break;
  }
  const auto first = pool == Pool::Large ? BasisWord::base_large_allocation : BasisWord::base_small_allocation;
  return basis_[offset_by(first, static_cast<std::size_t>(family))];
}

std::uint64_t Derivation::peak(Family family, Pool pool) const noexcept {
  switch (family) {
    case Family::OversizeBlocks:
      return basis_[BasisWord::peak_oversize_blocks];
    case Family::OversizeSegments:
      return basis_[BasisWord::peak_oversize_segments];
    default:
      break;
  }
  constexpr std::array kFirst = {BasisWord::peak_all_allocation, BasisWord::peak_large_allocation,
                                 BasisWord::peak_small_allocation};
  return basis_[offset_by(kFirst[static_cast<std::size_t>(pool)], static_cast<std::size_t>(family))];
}

}  // namespace tidemark::segment
