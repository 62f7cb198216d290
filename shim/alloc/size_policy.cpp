#include "shim/alloc/size_policy.hpp"

#include <algorithm>
#include <bit>

namespace tidemark::alloc {

namespace {

constexpr std::uint64_t up_to_multiple(std::uint64_t size, std::uint64_t step) {
  return (size + step - 1) / step * step;
}

}  // namespace

SizePolicy::SizePolicy(const Policy& policy) noexcept
    : small_limit_(policy.small_limit.count()),
      small_segment_(policy.small_segment.count()),
      large_rounding_(policy.large_rounding.count()),
      large_segment_(policy.large_segment.count()),
      large_segment_below_(policy.large_segment_below.count()),
      least_large_rest_(policy.least_large_rest.count()),
      max_split_(policy.max_split_size ? policy.max_split_size->count() : kUnlimited),
      max_non_split_rounding_(policy.max_non_split_rounding.count()),
      whole_waste_divisor_(policy.whole_waste_divisor),
      whole_(policy.large_requests == LargeRequests::Whole),
      divisions_(policy.roundup_power2_divisions) {
  has_divisions_ = std::any_of(divisions_.begin(), divisions_.end(), [](std::uint32_t steps) { return steps > 1; });
  if (!has_divisions_ && max_split_ == kUnlimited) {
    plain_limit_ = small_limit_ / kUnit * kUnit;
  }
}

// PyTorch's roundup_power2_divisions: the next of `steps` equal steps within the power of two that holds the size.
std::uint64_t SizePolicy::divided(std::uint64_t requested) const noexcept {
  const int exponent = static_cast<int>(std::bit_width(requested)) - 1;
  const std::uint64_t steps = divisions_[static_cast<std::size_t>(std::clamp(exponent - 20, 0, 15))];
  if (steps <= 1 || requested <= kUnit * steps) {
    return up_to_multiple(requested, kUnit);
  }
  if (std::has_single_bit(requested)) {
    return requested;
  }
  const std::uint64_t step = (std::uint64_t{1} << exponent) / steps;
  // A step of 512 B at least: `requested` is above 512 * steps, and both are powers of two.
  return up_to_multiple(requested, step);
}

void SizePolicy::classify_large(Request& request) const noexcept {
  request.pool = Pool::Large;
  if (whole_) {
    request.block = up_to_multiple(request.block, large_rounding_);
    request.segment = request.block;
    // S - R <= S / d, solved for the largest S; multiples of the rounding make the division exact where it matters.
    request.most = request.block + request.block / (whole_waste_divisor_ - 1);
    return;
  }
  request.shared = true;
  request.most = most_for(request.block);
  request.segment =
      request.block < large_segment_below_ ? large_segment_ : up_to_multiple(request.block, large_rounding_);
}

}  // namespace tidemark::alloc
