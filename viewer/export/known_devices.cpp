#include "viewer/export/known_devices.hpp"

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr std::chrono::hours kStays{1};
constexpr std::uint64_t kFreshNs = 60'000'000'000;

std::optional<std::uint64_t> available_of(const NodeDevice& device, std::uint64_t now_ns) {
  const bool is_known = device.used && device.capacity >= *device.used;
  const bool is_fresh = device.used_time_ns + kFreshNs > now_ns;
  return is_known && is_fresh ? std::optional{device.capacity - *device.used} : std::nullopt;
}

}  // namespace

std::string backend_of_uuid(std::string_view uuid) {
  return uuid.starts_with("MTIA-") ? "mtia" : uuid.starts_with("GPU-") || uuid.starts_with("MIG-") ? "cuda" : "";
}

const std::vector<KnownDevice>& KnownDevices::take(const View& view, Clock::time_point now) {
  for (KnownDevice& known : devices_) {
    known.clients = 0;
    known.available = std::nullopt;
    known.device.held = known.device.cached = 0;
    known.device.used = std::nullopt;
  }
  for (NodeDevice& device : node_devices(view)) {
    const auto found = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const KnownDevice& known) { return known.device.uuid == device.uuid; });
    KnownDevice& known = found != devices_.end() ? *found : devices_.emplace_back();
    known.backend = backend_of_uuid(device.uuid);
    known.available = available_of(device, view.time_ns);
    known.last_seen = now;
    known.device = std::move(device);
  }
  for (const ProcessView& process : view.processes) {
    for (const DeviceView& use : process.devices) {
      const auto found = std::find_if(devices_.begin(), devices_.end(),
                                      [&](const KnownDevice& known) { return known.device.uuid == use.uuid; });
      found->clients += std::uint64_t{process.is_alive()};
    }
  }
  std::erase_if(devices_, [&](const KnownDevice& known) { return now - known.last_seen > kStays; });
  return devices_;
}

}  // namespace tidemark::viewer
