// The mode of the process as its viewers see it: what its settings say, or less, as soon as a device does less.
//
// Threads: open() once, alone; show() any (a private lock, held for a few stores).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "shared/segment/writer.hpp"
#include "shim/alloc/device_lock.hpp"

namespace tidemark::publish {

class ModeBoard {
 public:
  // `why` says why; empty for the default.
  void open(segment::SegmentWriter& writer, segment::ProcessMode wanted, std::string_view why) noexcept;

  // The process wants something else from now on.
  void want(segment::ProcessMode mode, std::string_view why) noexcept;

  // The device in `slot` does this from now on.
  void show(std::uint32_t slot, const segment::DeviceInfo& device, DeviceMode mode) noexcept;

 private:
  void publish() noexcept;

  struct Device {
    bool is_known = false;
    DeviceMode mode = DeviceMode::Cache;
    segment::Backend backend = segment::Backend::Unknown;
    std::uint32_t ordinal = 0;
  };

  [[nodiscard]] bool does_less(const Device& device) const noexcept;

  alloc::DeviceLock mutex_;  // guards the rest; see Runtime::mutex_
  segment::SegmentWriter* writer_ = nullptr;
  segment::ProcessMode wanted_ = segment::ProcessMode::Unknown;
  segment::Text<128> why_;
  std::array<Device, segment::kDeviceSlots> devices_{};
};

}  // namespace tidemark::publish
