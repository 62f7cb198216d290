// Who holds a device's memory: the blocks in the program's hands, put together by stack, by size, by age. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::viewer {

struct Held {
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;
  std::uint64_t blocks = 0;
  std::optional<std::uint64_t> oldest_ns{};  // the earliest birth that is known

  void add(const history::Block& block);
};

struct StackHeld {
  Frames frames{};  // empty: not known
  Held held{};
};

struct SizeHeld {
  std::uint64_t up_to = 0;  // bytes, a power of two: more than half of it
  Held held{};
};

struct AgeHeld {
  // Seconds; no end: everything older. Neither: not known.
  std::optional<std::uint64_t> from{};
  std::optional<std::uint64_t> to{};
  Held held{};
};

// The stack's frames as one text, by which two of different snapshots are the same.
[[nodiscard]] std::string stack_key(const Frames& frames);

// The largest first.
[[nodiscard]] std::vector<StackHeld> held_by_stack(const MemorySnapshot& snapshot, const history::Device& device);
[[nodiscard]] std::vector<SizeHeld> held_by_size(const history::Device& device);  // the smallest first
[[nodiscard]] std::vector<AgeHeld> held_by_age(const history::Device& device, std::uint64_t now_ns);  // youngest first

[[nodiscard]] Held held_in_all(const history::Device& device);

// Calls visit(segment, block) for every block in the program's hands.
template <class Visit>
void for_each_held(const history::Device& device, Visit&& visit) {
  for (const history::Segment& segment : device.segments) {
    for (const history::Block& block : segment.blocks) {
      if (is_held(block)) {
        visit(segment, block);
      }
    }
  }
}

}  // namespace tidemark::viewer
