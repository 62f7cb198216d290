// What the environment says about the simulated CUDA devices: the device core's settings with the prefix CUDA_SIM_, and
//   CUDA_SIM_DRIVER_VERSION  the CUDA version that the driver reports and resolves up to, e.g. 12040
//   CUDA_SIM_KERNEL_TICKS    how long a kernel takes on the virtual clock (100)
//   CUDA_VISIBLE_DEVICES     indices or GPU-<uuid> prefixes; as with CUDA, the list ends at the first that is none
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "simulator/core/knobs.hpp"
#include "simulator/core/machine.hpp"

namespace cuda_sim {

struct Settings {
  sim::Knobs knobs;
  sim::Ticks kernel_ticks = 100;
};

Settings read_settings();
// Read on its own, as the resolver works before cuInit.
int driver_version();

// The machine's indices that `list` (nothing: not set) makes visible, in its order.
std::vector<int> visible_devices(std::optional<std::string_view> list, const sim::Machine& machine);

// `GPU-` and the uuid as nvidia-smi writes it.
std::string uuid_text(const sim::DeviceIdentity& identity);

}  // namespace cuda_sim
