// The node's devices, over all processes: also those that no process uses just now, for an hour.
#pragma once

#include "viewer/model/view.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

struct KnownDevice {
  NodeDevice device;  // of the last look that had it
  std::string backend;
  std::uint64_t clients = 0;                              // living processes
  std::optional<std::uint64_t> available = std::nullopt;  // none: nobody asked the driver of late
  std::chrono::steady_clock::time_point last_seen{};
};

class KnownDevices {
 public:
  using Clock = std::chrono::steady_clock;

  // In the order in which they came. A program's word on what is free is known for a minute.
  const std::vector<KnownDevice>& take(const View& view, Clock::time_point now);
  [[nodiscard]] const std::vector<KnownDevice>& all() const { return devices_; }

 private:
  std::vector<KnownDevice> devices_;
};

// "cuda" of "GPU-..." and "MIG-...", "mtia" of "MTIA-...".
[[nodiscard]] std::string backend_of_uuid(std::string_view uuid);

}  // namespace tidemark::viewer
