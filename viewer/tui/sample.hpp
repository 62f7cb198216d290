// What the sampler's thread found in one look; never changed once made.
#pragma once

#include "viewer/model/act.hpp"
#include "viewer/model/view.hpp"
#include "viewer/tui/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::viewer {

// What the key `m` has come to.
struct MarkedPeak {
  RowKey key;
  PeakFigures peaks;
  std::uint64_t since_ns = 0;  // CLOCK_REALTIME
};

// What a look takes a closer look at, because the screen shows it.
struct Focus {
  bool parents = false;
  std::string details_of{};  // the id of a process; empty: of none

  friend bool operator==(const Focus&, const Focus&) = default;
};

struct Sample {
  View view;
  std::size_t waiting = 0;  // processes with the library and no allocation yet
  std::vector<MarkedPeak> marks{};
  Parents parents{};               // with Focus::parents
  std::uint64_t looked_at_ns = 0;  // CLOCK_MONOTONIC
};

}  // namespace tidemark::viewer
