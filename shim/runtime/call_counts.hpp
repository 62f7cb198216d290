// How often programs asked for our functions by name, and freed what nobody knows; counted before there is a runtime,
// published with its beats.
#pragma once

#include <atomic>
#include <cstdint>

namespace tidemark::runtime {

struct CallCounts {
  std::atomic<std::uint64_t> resolver{0};
  std::atomic<std::uint64_t> swapped{0};
  std::atomic<std::uint64_t> foreign_frees{0};
};

inline constinit CallCounts call_counts;

}  // namespace tidemark::runtime
