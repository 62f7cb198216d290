// Who the simulated CUDA devices are: the same words in the driver and in the library that tells about it.
#pragma once

#include <string>

#include "simulator/core/knobs.hpp"

namespace cuda_sim {

inline constexpr const char* kProduct = "CUDA GPU";
inline constexpr const char* kUuidWord = "GPU-";  // as nvidia-smi writes it

constexpr int pci_bus(int machine_index) { return machine_index + 1; }

// The devices' settings, CUDA_SIM_*; of those that one library reads for itself only the names are checked.
inline sim::Knobs read_machine_knobs() {
  return sim::read_knobs("CUDA", "MEMORY", {"DRIVER_VERSION", "KERNEL_TICKS", "NVML_FAIL"});
}

// Where processes add up what they use; empty: they don't.
inline std::string shared_file(const sim::Knobs& knobs) {
  return knobs.shared.empty() ? std::string{} : "cuda_sim." + knobs.shared;
}

}  // namespace cuda_sim
