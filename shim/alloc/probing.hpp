// What tables with open addressing and linear probing have in common.
#pragma once

#include <cstddef>

namespace tidemark::alloc {

// Fills the gap that an erased entry leaves with what probing would no longer reach across it; no tombstones, so
// searches stay short for ever. Returns the place that is empty in the end, for the caller to clear. Requires: `size`
// is a power of two, and some place is empty.
template <class IsEmpty, class HomeOf, class Move>
[[nodiscard]] inline std::size_t close_gap(std::size_t gap, std::size_t size, IsEmpty&& is_empty, HomeOf&& home_of,
                                           Move&& move) noexcept {
  const std::size_t mask = size - 1;
  for (std::size_t slot = (gap + 1) & mask; !is_empty(slot); slot = (slot + 1) & mask) {
    if (((slot - home_of(slot)) & mask) >= ((slot - gap) & mask)) {
      move(gap, slot);
      gap = slot;
    }
  }
  return gap;
}

}  // namespace tidemark::alloc
