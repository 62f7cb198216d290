#include "viewer/tui/history.hpp"

namespace tidemark::viewer {
namespace {

std::string name_of(const std::string& id, const std::string& device) { return id + ' ' + device; }

}  // namespace

void History::note(const View& view, std::uint64_t time_ns, std::chrono::milliseconds interval) {
  // A look may be late by as much again before its absence means that nothing is known.
  const auto good_for =
      2 * static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(interval).count());
  const std::lock_guard lock(mutex_);
  ++looks_;
  for (const ProcessView& process : view.processes) {
    for (const DeviceView& device : process.devices) {
      Track& track = tracks_[name_of(process.id(), device.name)];
      track.last_look = looks_;
      if (!process.is_alive() && !track.points.empty()) {
        continue;
      }
      track.points.push_back({.time_ns = time_ns,
                              .is_good_for_ns = good_for,
                              .allocated = device.figures.allocated,
                              .reserved = device.figures.reserved,
                              .peak = device.figures.allocated_peak});
      if (track.points.size() > kMostPoints) {
        track.points.pop_front();
      }
    }
  }
  std::erase_if(tracks_, [this](const auto& entry) { return entry.second.last_look != looks_; });
}

std::vector<HistoryPoint> History::of(const RowKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = tracks_.find(name_of(key.id, key.device));
  return found == tracks_.end() ? std::vector<HistoryPoint>{}
                                : std::vector<HistoryPoint>{found->second.points.begin(), found->second.points.end()};
}

}  // namespace tidemark::viewer
