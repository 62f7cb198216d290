// What two snapshots differ in: gained and lost, by stack and by size. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/history/holders.hpp"

namespace tidemark::viewer {

// One stack, or one class of sizes, in both.
struct Change {
  Frames frames{};          // of a stack; empty: not known
  std::uint64_t up_to = 0;  // of a class of sizes
  Held before{};
  Held after{};

  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(after.bytes - before.bytes); }
  [[nodiscard]] std::int64_t blocks() const { return static_cast<std::int64_t>(after.blocks - before.blocks); }
};

struct DeviceChange {
  std::string device{};
  Held before{};
  Held after{};
  // What has changed alone, the largest gain first, the largest loss last.
  std::vector<Change> stacks{};
  std::vector<Change> sizes{};
};

// Devices are the same by their name; one that only one of them has is compared with nothing.
[[nodiscard]] std::vector<DeviceChange> compare(const MemorySnapshot& before, const MemorySnapshot& after);

}  // namespace tidemark::viewer
