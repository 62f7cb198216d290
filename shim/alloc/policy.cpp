#include "shim/alloc/policy.hpp"

#include <bit>

#include "shim/alloc/size_policy.hpp"

namespace tidemark::alloc {

namespace {

bool is_in_units(Bytes size) { return size.count() > 0 && size.count() % kUnit == 0; }

}  // namespace

const char* Policy::contradiction() const {
  if (!is_in_units(small_limit) || !is_in_units(small_segment) || small_limit > small_segment) {
    return "small_limit_kb";
  }
  if (!is_in_units(large_segment) || !is_in_units(large_rounding) || large_segment < large_segment_below) {
    return "large_segment_size_mb";
  }
  // PyTorch's bound for both: below it, large segments themselves would be too large to split.
  if (max_split_size && (*max_split_size <= 20_MiB || large_requests == LargeRequests::Whole)) {
    return "max_split_size_mb";
  }
  if (max_non_split_rounding < 20_MiB) {
    return "max_non_split_rounding_mb";
  }
  for (const std::uint32_t steps : roundup_power2_divisions) {
    if (steps != 0 && !std::has_single_bit(steps)) {
      return "roundup_power2_divisions";
    }
  }
  if (!(garbage_collection_threshold >= 0.0 && garbage_collection_threshold < 1.0)) {
    return "garbage_collection_threshold";
  }
  if (whole_waste_divisor < 2) {
    return "whole_waste_divisor";
  }
  return nullptr;
}

}  // namespace tidemark::alloc
