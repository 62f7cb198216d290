// What the ranges of one name did on one device.
#pragma once

#include <cstdint>

namespace tidemark::ranges {

struct RowValues {
  std::uint64_t times = 0;
  std::uint64_t unmeasured = 0;  // of these
  std::uint64_t allocated_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t added_bytes = 0;
};

}  // namespace tidemark::ranges
