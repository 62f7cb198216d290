// From the size a program asks for to what it gets: the block, the pool, the cached blocks that may serve, the segment
// to ask the driver for. Pure: a request gives the same answer at any time.
#pragma once

#include <cstdint>
#include <limits>

#include "shared/base/bytes.hpp"
#include "shim/alloc/policy.hpp"

namespace tidemark::alloc {

inline constexpr std::uint64_t kUnit =
    512;  // the driver's own granularity below a page (measured, pytorch's minimum block too)

// PyTorch calls it an out-of-memory without a try; so large a number is a program's error, and the driver shall judge
// it.
inline constexpr std::uint64_t kAbsurdSize = std::uint64_t{1} << 60;

enum class Pool : std::uint16_t { Small = 0, Large = 1 };

struct Request {
  std::uint64_t requested = 0;
  std::uint64_t block = 0;    // rounded
  std::uint64_t most = 0;     // the largest cached block that may serve it
  std::uint64_t segment = 0;  // what a miss asks the driver for
  Pool pool = Pool::Small;
  bool shared = false;  // cut from a segment that others may share
};

class SizePolicy {
 public:
  explicit SizePolicy(const Policy& policy) noexcept;

  // Nearly every request: small, and no option has a say in it. What is known of it beforehand the compiler knows, too.
  [[nodiscard]] bool is_plain(std::uint64_t requested) const noexcept { return requested <= plain_limit_; }
  // Requires: 0 < requested, is_plain(requested). The same as classify().
  [[nodiscard]] Request classify_plain(std::uint64_t requested) const noexcept {
    return {.requested = requested,
            .block = (requested + (kUnit - 1)) & ~(kUnit - 1),
            .most = kUnlimited,
            .segment = small_segment_,
            .pool = Pool::Small,
            .shared = true};
  }

  // Requires: 0 < requested < kAbsurdSize.
  [[nodiscard]] Request classify(std::uint64_t requested) const noexcept {
    Request request{.requested = requested, .block = (requested + (kUnit - 1)) & ~(kUnit - 1), .most = kUnlimited};
    if (has_divisions_) {
      request.block = divided(requested);
    }
    if (request.block <= small_limit_) {
      request.segment = small_segment_;
      request.shared = true;
      request.most = most_for(request.block);
      return request;
    }
    classify_large(request);
    return request;
  }

  // Whether a free block of `size` is cut for `request`.
  [[nodiscard]] bool splits(std::uint64_t size, const Request& request) const noexcept {
    if (request.pool == Pool::Small) {
      return size - request.block >= kUnit;
    }
    return request.shared && request.block < max_split_ && size - request.block > least_large_rest_;
  }

  [[nodiscard]] bool is_oversize(std::uint64_t size) const noexcept { return size >= max_split_; }
  // The same for the block that serves `request`.
  [[nodiscard]] bool is_oversize(std::uint64_t size, const Request& request) const noexcept {
    return request.most != kUnlimited && is_oversize(size);
  }
  [[nodiscard]] bool limits_splitting() const noexcept { return max_split_ != kUnlimited; }
  [[nodiscard]] std::uint64_t max_split() const noexcept { return max_split_; }

 private:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  // Blocks from max_split_size on are kept for requests of that size, and serve them only with little waste.
  [[nodiscard]] std::uint64_t most_for(std::uint64_t block) const noexcept {
    if (max_split_ == kUnlimited) {
      return kUnlimited;
    }
    return block < max_split_ ? max_split_ - 1 : block + max_non_split_rounding_ - 1;
  }
  [[nodiscard]] std::uint64_t divided(std::uint64_t requested) const noexcept;
  void classify_large(Request& request) const noexcept;

  std::uint64_t plain_limit_ = 0;
  std::uint64_t small_limit_;
  std::uint64_t small_segment_;
  std::uint64_t large_rounding_;
  std::uint64_t large_segment_;
  std::uint64_t large_segment_below_;
  std::uint64_t least_large_rest_;
  std::uint64_t max_split_;
  std::uint64_t max_non_split_rounding_;
  std::uint64_t whole_waste_divisor_;
  bool whole_;
  bool has_divisions_ = false;
  std::array<std::uint32_t, 16> divisions_;
};

}  // namespace tidemark::alloc
