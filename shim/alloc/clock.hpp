// Where the allocator reads the time: a value, so that tests drive it.
// Both functions: any thread, never block, no allocation.
#pragma once

#include <cstdint>

namespace tidemark::alloc {

struct Clock {
  std::uint64_t (*monotonic_ns)() noexcept;  // durations and idle times
  std::uint64_t (*realtime_ns)() noexcept;   // "when", since the Unix epoch

  [[nodiscard]] static Clock system() noexcept;
};

}  // namespace tidemark::alloc
