// How each of PyTorch's statistics follows from the words of a basis.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shared/base/device_basis.hpp"

namespace tidemark::segment {

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
inline constexpr std::size_t kPooledFamilies = 9;
inline constexpr std::size_t kFamilies = 11;
inline constexpr std::array kPools = {Pool::All, Pool::Small, Pool::Large};

// The words may come from a hostile file: sums wrap around (unsigned) and are then read as PyTorch's int64.
class Derivation {
 public:
  explicit Derivation(const DeviceBasis& basis) noexcept : basis_(basis) {}

  // The oversize statistics are the same in every pool.
  [[nodiscard]] std::int64_t value(Family family, Pool pool, Field field) const noexcept {
    return static_cast<std::int64_t>(wrapped(family, pool, field));
  }

 private:
  [[nodiscard]] std::uint64_t wrapped(Family family, Pool pool, Field field) const noexcept;
  [[nodiscard]] std::uint64_t word(BasisWord small, Pool pool) const noexcept;
  [[nodiscard]] std::uint64_t current(Family family, Pool pool) const noexcept;
  [[nodiscard]] std::uint64_t total(Family family, Pool pool) const noexcept;
  [[nodiscard]] std::uint64_t base(Family family, Pool pool) const noexcept;
  [[nodiscard]] std::uint64_t peak(Family family, Pool pool) const noexcept;

  const DeviceBasis& basis_;
};

}  // namespace tidemark::segment
