// What grows: of three moments of a process, the stacks that hold more at the end than in the middle, and still hold
// what they took before the middle. Whoever allocates and frees again fails one of the two. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/history/holders.hpp"

namespace tidemark::viewer {

struct Growing {
  Frames frames{};
  Held middle{};
  Held end{};
  Held survived{};  // of `end`: born after the beginning and before the middle

  [[nodiscard]] std::uint64_t grew_bytes() const { return end.bytes - middle.bytes; }
  [[nodiscard]] std::uint64_t grew_blocks() const {
    return end.blocks > middle.blocks ? end.blocks - middle.blocks : 0;
  }
};

struct DeviceGrowth {
  std::string device{};
  Held middle{};
  Held end{};
  std::vector<Growing> growing{};  // what grew most first
  // What else grew, by stacks that gained: whose stack isn't known, and of which nothing from the first half is left.
  std::uint64_t unknown_bytes = 0;
  std::uint64_t late_bytes = 0;
};

// Requires: both of one process, both with their time.
[[nodiscard]] std::vector<DeviceGrowth> find_growth(std::uint64_t begin_ns, const MemorySnapshot& middle,
                                                    const MemorySnapshot& end);

}  // namespace tidemark::viewer
