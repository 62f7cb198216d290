// The segments of one device in address order, to tell whether an address lies inside one: asked when a pointer is not
// exactly a live block, changed on a miss. A treap whose links and priorities live in the segment records, so it
// allocates nothing and cannot fail. All zero is empty. Segments don't overlap. Threads: under the device's lock.
#pragma once

#include <cstdint>

#include "shim/alloc/records.hpp"

namespace tidemark::alloc {

class AddressIndex {
 public:
  void insert(SegmentTable& segments, SegmentIndex index) noexcept;
  void remove(SegmentTable& segments, SegmentIndex index) noexcept;

  // The segment that holds `address`, or 0.
  [[nodiscard]] SegmentIndex holder_of(const SegmentTable& segments, std::uint64_t address) const noexcept;
  // A segment that has a byte in [base, base + size), or 0.
  [[nodiscard]] SegmentIndex overlapping(const SegmentTable& segments, std::uint64_t base,
                                         std::uint64_t size) const noexcept;

 private:
  SegmentIndex root_ = 0;
};

}  // namespace tidemark::alloc
