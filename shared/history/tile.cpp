#include "shared/history/tile.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::history {
namespace {

template <class Part>
bool is_sound(const Part& part) {
  return part.size > 0 && part.address <= UINT64_MAX - part.size;
}

Block gap(std::uint64_t begin, std::uint64_t end) {
  return {.address = begin, .size = end - begin, .state = BlockState::Unknown};
}

// Requires: `found` by address.
bool fill(Segment& segment, std::vector<Block>& found) {
  bool is_right = true;
  std::uint64_t at = segment.address;
  const std::uint64_t end = segment.address + segment.size;
  for (Block& block : found) {
    if (block.address < at || block.address + block.size > end) {
      is_right = false;
      continue;
    }
    if (block.address > at) {
      is_right = false;
      segment.blocks.push_back(gap(at, block.address));
    }
    at = block.address + block.size;
    segment.blocks.push_back(block);
  }
  if (at < end) {
    is_right = false;
    segment.blocks.push_back(gap(at, end));
  }
  return is_right;
}

}  // namespace

bool tile_segments(std::vector<FoundSegment> segments, std::span<const FoundBlock> blocks,
                   std::vector<Segment>& tiled) {
  const std::size_t found = segments.size();
  std::erase_if(segments, [](const FoundSegment& segment) { return !is_sound(segment.segment); });
  bool is_right = segments.size() == found;

  std::vector<std::vector<Block>> of_segment(segments.size());
  for (const FoundBlock& block : blocks) {
    const auto owner = std::ranges::lower_bound(segments, block.segment_number, {}, &FoundSegment::number);
    if (owner == segments.end() || owner->number != block.segment_number || owner->serial != block.segment_serial) {
      continue;  // of an earlier segment's time
    }
    if (!is_sound(block.block)) {
      is_right = false;
      continue;
    }
    of_segment[static_cast<std::size_t>(owner - segments.begin())].push_back(block.block);
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    std::ranges::sort(of_segment[i], {}, &Block::address);
    is_right &= fill(segments[i].segment, of_segment[i]);
  }

  std::ranges::sort(segments, {}, [](const FoundSegment& segment) { return segment.segment.address; });
  std::uint64_t end = 0;
  for (FoundSegment& segment : segments) {
    if (segment.segment.address < end) {
      is_right = false;
      continue;
    }
    end = segment.segment.address + segment.segment.size;
    tiled.push_back(std::move(segment.segment));
  }
  return is_right;
}

}  // namespace tidemark::history
