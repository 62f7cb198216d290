// What every row's memory was since the sampler began to look, for graphs.
//
// Threads: any; the sampler notes, the screen asks.
#pragma once

#include "viewer/model/view.hpp"
#include "viewer/tui/rows.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tidemark::viewer {

struct HistoryPoint {
  std::uint64_t time_ns = 0;         // CLOCK_MONOTONIC
  std::uint64_t is_good_for_ns = 0;  // no later than that after it there should have been another look
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint64_t peak = 0;
};

class History {
 public:
  // Two to a column of the widest screen that the tests know. 40 bytes each, for every row.
  static constexpr std::size_t kMostPoints = 1000;

  // A look at `time_ns`, the next one after `interval`. Rows that are not in `view` any more are forgotten, dead ones
  // stay as they were.
  void note(const View& view, std::uint64_t time_ns, std::chrono::milliseconds interval);

  // Oldest first; empty for a row that was never seen.
  [[nodiscard]] std::vector<HistoryPoint> of(const RowKey& key) const;

 private:
  struct Track {
    std::deque<HistoryPoint> points;
    std::uint64_t last_look = 0;
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Track> tracks_;  // by id and device
  std::uint64_t looks_ = 0;
};

}  // namespace tidemark::viewer
