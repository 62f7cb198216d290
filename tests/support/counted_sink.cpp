#include "tests/support/counted_sink.hpp"

#include <algorithm>

namespace tidemark::test {

namespace {

constexpr std::size_t kStats = index_of(BasisWord::peak_small_allocation) - index_of(BasisWord::peak_all_allocation);
constexpr std::size_t kPoolWords = index_of(BasisWord::large_live_blocks);

struct Pool {
  const DeviceBasis& basis;
  std::size_t number;

  [[nodiscard]] std::uint64_t operator[](BasisWord small) const {
    return basis.words[index_of(small) + number * kPoolWords];
  }
  // In the order of the statistic words.
  [[nodiscard]] std::array<std::uint64_t, kStats> currents() const {
    const Pool& pool = *this;
    return {pool[BasisWord::small_live_blocks],
            pool[BasisWord::small_live_bytes],
            pool[BasisWord::small_requested_bytes],
            pool[BasisWord::small_live_blocks] + pool[BasisWord::small_pending_blocks],
            pool[BasisWord::small_live_bytes] + pool[BasisWord::small_pending_bytes],
            pool[BasisWord::small_segments],
            pool[BasisWord::small_reserved_bytes],
            pool[BasisWord::small_split_blocks],
            pool[BasisWord::small_split_bytes]};
  }
};

}  // namespace

std::string broken_invariant(const DeviceBasis& basis) {
  const Pool small{basis, 0};
  const Pool large{basis, 1};
  const auto smalls = small.currents();
  const auto larges = large.currents();
  for (std::size_t stat = 0; stat < kStats; ++stat) {
    if (basis.words[index_of(BasisWord::peak_small_allocation) + stat] < smalls[stat] ||
        basis.words[index_of(BasisWord::peak_large_allocation) + stat] < larges[stat] ||
        basis.words[index_of(BasisWord::peak_all_allocation) + stat] < smalls[stat] + larges[stat]) {
      return "peak >= current, statistic " + std::to_string(stat);
    }
  }
  for (const Pool& pool : {small, large}) {
    const std::uint64_t active = pool[BasisWord::small_live_bytes] + pool[BasisWord::small_pending_bytes];
    if (pool[BasisWord::small_reserved_bytes] < active) {
      return "reserved = active + cached, cached >= 0";
    }
    if (pool[BasisWord::small_reserved_bytes] - active < pool[BasisWord::small_split_bytes]) {
      return "split bytes are cached bytes";
    }
    if (pool[BasisWord::small_requested_bytes] > active) {
      return "requested <= active";
    }
  }
  const std::uint64_t reserved = small[BasisWord::small_reserved_bytes] + large[BasisWord::small_reserved_bytes];
  if (basis[BasisWord::held_bytes] < reserved || basis[BasisWord::held_peak_bytes] < basis[BasisWord::held_bytes]) {
    return "held >= reserved, held peak >= held";
  }
  const std::uint64_t allocations =
      small[BasisWord::small_allocations_total] + large[BasisWord::small_allocations_total];
  if (allocations < basis[BasisWord::misses] + basis[BasisWord::passed_through]) {
    return "allocations = hits + misses + passed through";
  }
  const std::uint64_t segments = small[BasisWord::small_segments_total] + large[BasisWord::small_segments_total];
  if (segments != basis[BasisWord::device_allocs] ||
      segments != basis[BasisWord::misses] + basis[BasisWord::passed_through]) {
    return "segments = driver allocations = misses + passed through";
  }
  if (basis[BasisWord::lifetime_peak_allocated_bytes] < basis[BasisWord::peak_all_allocated_bytes] ||
      basis[BasisWord::lifetime_peak_reserved_bytes] < basis[BasisWord::peak_all_reserved_bytes] ||
      basis[BasisWord::lifetime_peak_held_bytes] < basis[BasisWord::held_peak_bytes]) {
    return "lifetime peak >= peak";
  }
  return {};
}

void CountedSink::publish(const DeviceBasis& basis, BasisLines changed) noexcept {
  ++publications_;
  for (std::size_t line = 0; line < kBasisLines; ++line) {
    if ((changed >> line & 1) != 0) {
      const auto begin = basis.words.begin() + static_cast<std::ptrdiff_t>(line * kWordsPerLine);
      std::copy_n(begin, kWordsPerLine, seen_.words.begin() + static_cast<std::ptrdiff_t>(line * kWordsPerLine));
    }
  }
  if (!complaint_.empty()) {
    return;
  }
  if (seen_.words != basis.words) {
    complaint_ = "a line changed without being published";
    return;
  }
  complaint_ = broken_invariant(basis);
}

}  // namespace tidemark::test
