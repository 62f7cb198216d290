// Which strict frees are timed. Reading the clock costs as much as all else in a hit, and where the device answers at
// once there is nothing to see; so after a wait shorter than any real driver's, the next 15 count as much as that one.
// A real synchronise takes longer than that even on an idle device, so on real devices every wait is measured. Threads:
// under the device's lock. Every wait that is_next_timed() lets be timed must be counted.
#pragma once

#include <cstdint>

namespace tidemark::alloc {

class WaitSampler {
 public:
  static constexpr std::uint64_t kShortNs = 200;
  static constexpr std::uint32_t kEvery = 16;

  [[nodiscard]] bool is_next_timed() {
    if (untimed_left_ == 0) {
      return true;
    }
    --untimed_left_;
    return false;
  }

  // What a timed wait adds to the sum: for itself, and if it was short, for those that won't be timed. 0: no wait took
  // place.
  [[nodiscard]] std::uint64_t count_for(std::uint64_t waited_ns) {
    if (waited_ns == 0 || waited_ns >= kShortNs) {
      return waited_ns;
    }
    untimed_left_ = kEvery - 1;
    return waited_ns * kEvery;
  }

 private:
  std::uint32_t untimed_left_ = 0;
};

}  // namespace tidemark::alloc
