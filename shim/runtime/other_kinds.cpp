#include "shim/runtime/other_kinds.hpp"

#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

void OtherKinds::device_changed(std::uint32_t place, const DeviceKindCounts& counts,
                                std::int64_t held_change) noexcept {
  ServedDevice& device = runtime_.device_at(place);
  if (held_change > 0) {
    device.cache().add_other_kinds(Bytes{static_cast<std::uint64_t>(held_change)});
  } else if (held_change < 0) {
    device.cache().remove_other_kinds(Bytes{static_cast<std::uint64_t>(-held_change)});
  }
  publisher_.show_kinds(device.sink(), counts);
}

void OtherKinds::host_changed(const HostKindCounts& counts) noexcept { publisher_.show_host_kinds(counts); }

}  // namespace tidemark::runtime
