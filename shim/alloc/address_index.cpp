#include "shim/alloc/address_index.hpp"

namespace tidemark::alloc {

namespace {

// Scatters addresses, so that the order in which the driver gives them cannot unbalance the tree.
std::uint64_t priority_of(const Segment& segment) {
  std::uint64_t mixed = segment.base * 0xD6E8FEB86659FD93U;
  mixed ^= mixed >> 32;
  return mixed * 0xD6E8FEB86659FD93U;
}

}  // namespace

void AddressIndex::insert(SegmentTable& segments, SegmentIndex index) noexcept {
  Segment& added = segments[index];
  const std::uint64_t priority = priority_of(added);
  SegmentIndex* link = &root_;
  while (*link != 0 && priority_of(segments[*link]) >= priority) {
    Segment& at = segments[*link];
    link = added.base < at.base ? &at.left : &at.right;
  }
  // What hangs here is split into what lies below and above the new segment, which takes its place.
  SegmentIndex rest = *link;
  *link = index;
  SegmentIndex* below = &added.left;
  SegmentIndex* above = &added.right;
  while (rest != 0) {
    Segment& at = segments[rest];
    if (at.base < added.base) {
      *below = rest;
      below = &at.right;
      rest = *below;
    } else {
      *above = rest;
      above = &at.left;
      rest = *above;
    }
  }
  *below = 0;
  *above = 0;
}

void AddressIndex::remove(SegmentTable& segments, SegmentIndex index) noexcept {
  const Segment& removed = segments[index];
  SegmentIndex* link = &root_;
  while (*link != index) {
    Segment& at = segments[*link];
    link = removed.base < at.base ? &at.left : &at.right;
  }
  SegmentIndex below = removed.left;
  SegmentIndex above = removed.right;
  while (below != 0 && above != 0) {
    if (priority_of(segments[below]) > priority_of(segments[above])) {
      *link = below;
      link = &segments[below].right;
      below = *link;
    } else {
      *link = above;
      link = &segments[above].left;
      above = *link;
    }
  }
  *link = below != 0 ? below : above;
}

SegmentIndex AddressIndex::holder_of(const SegmentTable& segments, std::uint64_t address) const noexcept {
  for (SegmentIndex index = root_; index != 0;) {
    const Segment& at = segments[index];
    if (address < at.base) {
      index = at.left;
    } else if (address - at.base < at.size) {
      return index;
    } else {
      index = at.right;
    }
  }
  return 0;
}

SegmentIndex AddressIndex::overlapping(const SegmentTable& segments, std::uint64_t base,
                                       std::uint64_t size) const noexcept {
  for (SegmentIndex index = root_; index != 0;) {
    const Segment& at = segments[index];
    const bool below = at.base < base;
    if (below ? base - at.base < at.size : at.base - base < size) {
      return index;
    }
    index = below ? at.right : at.left;
  }
  return 0;
}

}  // namespace tidemark::alloc
