// How often programs asked for our functions by name; counted before there is a runtime, published with its beats.
#pragma once

#include <atomic>
#include <cstdint>

namespace tidemark::runtime {

struct LookUpCounts {
  std::atomic<std::uint64_t> resolver{0};
  std::atomic<std::uint64_t> swapped{0};
};

inline constinit LookUpCounts look_up_counts;

}  // namespace tidemark::runtime
