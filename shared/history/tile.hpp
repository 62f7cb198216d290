// Puts blocks into their segments, so that they fill them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/history/history.hpp"

namespace tidemark::history {

struct FoundSegment {
  std::uint64_t number = 0;
  std::uint64_t serial = 0;
  Segment segment;
};

struct FoundBlock {
  std::uint64_t segment_number = 0;
  std::uint64_t segment_serial = 0;
  Block block;
};

// Blocks of no segment, or of one that had the same number before, are left out. False: something was wrong: an
// overlap, a gap, a size that cannot be. What is in `tiled` is sound nevertheless. Requires: `segments` in the order of
// their numbers.
[[nodiscard]] bool tile_segments(std::vector<FoundSegment> segments, std::span<const FoundBlock> blocks,
                                 std::vector<Segment>& tiled);

}  // namespace tidemark::history
