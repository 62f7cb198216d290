// cuCtxSetLimit and cuCtxGetLimit: numbers that are kept and told. They bound nothing here, as no kernel runs, so one
// set serves all contexts. Any thread may call.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>

namespace cuda_sim {

class Limits {
 public:
  // False: no such limit.
  static bool read(CUlimit limit, std::size_t& value) {
    if (!is_known(limit)) {
      return false;
    }
    value = values_[static_cast<std::size_t>(limit)];
    return true;
  }
  static bool set(CUlimit limit, std::size_t value) {
    if (!is_known(limit)) {
      return false;
    }
    values_[static_cast<std::size_t>(limit)] = value;
    return true;
  }

 private:
  static constexpr std::size_t kKnown = CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 1;
  static bool is_known(CUlimit limit) { return limit >= 0 && static_cast<std::size_t>(limit) < kKnown; }

  // Stack, printf buffer, malloc heap, nesting depth, pending launches, fetch granularity, persisting L2.
  static inline std::array<std::atomic<std::size_t>, kKnown> values_{1 << 10, 1 << 20, 8 << 20, 2, 2048, 64, 0};
};

}  // namespace cuda_sim
