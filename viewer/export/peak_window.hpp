// The highest values of the last minute, second by second: any number of readers see the same, and none takes anything
// from another.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace tidemark::viewer {

// Of one process on one device, in bytes.
struct Peaks {
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint64_t held = 0;

  [[nodiscard]] static Peaks highest(const Peaks& a, const Peaks& b) {
    return {std::max(a.allocated, b.allocated), std::max(a.reserved, b.reserved), std::max(a.held, b.held)};
  }
  bool operator==(const Peaks&) const = default;
};

class PeakWindow {
 public:
  static constexpr std::int64_t kSeconds = 60;
  using Clock = std::chrono::steady_clock;

  // Peaks reached before `now`, and not earlier than a second or so.
  void add(const Peaks& peaks, Clock::time_point now) {
    const std::int64_t second = second_of(now);
    Second& place = seconds_[index_of(second)];
    place = {second, place.second == second ? Peaks::highest(place.peaks, peaks) : peaks};
  }

  [[nodiscard]] Peaks highest(Clock::time_point now) const {
    Peaks highest;
    for (const Second& place : seconds_) {
      if (place.second > second_of(now) - kSeconds) {
        highest = Peaks::highest(highest, place.peaks);
      }
    }
    return highest;
  }

 private:
  struct Second {
    std::int64_t second = INT64_MIN / 2;
    Peaks peaks;
  };

  static std::int64_t second_of(Clock::time_point time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  }
  static std::size_t index_of(std::int64_t second) { return static_cast<std::size_t>(second % kSeconds); }

  std::array<Second, kSeconds> seconds_{};
};

}  // namespace tidemark::viewer
