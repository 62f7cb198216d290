// What devices held in the last ten minutes, second by second, for the live page.
#pragma once

#include "viewer/export/known_devices.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

struct TimelinePoint {
  double time = 0;  // seconds since 1970
  std::uint64_t held = 0;
  std::uint64_t cached = 0;
  std::optional<std::uint64_t> used = std::nullopt;  // by everybody
};

class Timeline {
 public:
  static constexpr std::size_t kMostPoints = 600;
  static constexpr std::size_t kMostDevices = 64;

  // Devices that aren't among these any more are forgotten.
  void add(const std::vector<KnownDevice>& devices, std::uint64_t time_ns);

  [[nodiscard]] const std::map<std::string, std::deque<TimelinePoint>>& by_uuid() const { return by_uuid_; }

 private:
  std::map<std::string, std::deque<TimelinePoint>> by_uuid_;
};

}  // namespace tidemark::viewer
