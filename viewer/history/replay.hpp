// Goes back through a device's events, from what is there at the end: how PyTorch's viewer shows a snapshot, and what
// was in use when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/history/history.hpp"

namespace tidemark::viewer {

// What was in use right after an event, or before the first (`time_ns` is then that one's).
struct Moment {
  std::uint64_t time_ns = 0;
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
};

// A block that was in use before the first event that is told.
struct Earlier {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

struct Replay {
  // Events before this one don't fit together with what is there: they were read while they changed, or some are
  // missing.
  std::size_t first = 0;
  std::vector<Moment> moments{};   // one more than events from `first` on; the last is the end. None without events
  std::vector<Earlier> earlier{};  // by address
};

// `is_exact`: the events' sizes are those of their blocks; else they are a guess, and addresses alone have to fit.
[[nodiscard]] Replay replay(const history::Device& device, bool is_exact = true);

}  // namespace tidemark::viewer
