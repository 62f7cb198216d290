#include "viewer/export/timeline.hpp"

#include <utility>

namespace tidemark::viewer {

void Timeline::add(const std::vector<KnownDevice>& devices, std::uint64_t time_ns) {
  std::map<std::string, std::deque<TimelinePoint>> kept;
  for (const KnownDevice& known : devices) {
    if (kept.size() == kMostDevices) {
      break;
    }
    std::deque<TimelinePoint>& points = kept[known.device.uuid] = std::move(by_uuid_[known.device.uuid]);
    points.push_back({.time = static_cast<double>(time_ns) / 1e9,
                      .held = known.device.held,
                      .cached = known.device.cached,
                      .used = known.device.used});
    if (points.size() > kMostPoints) {
      points.pop_front();
    }
  }
  by_uuid_ = std::move(kept);
}

}  // namespace tidemark::viewer
