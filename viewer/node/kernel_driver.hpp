// What the kernel's NVIDIA driver says in /proc, without NVML: which GPU is which.
#pragma once

#include "viewer/model/node_fact.hpp"

#include <filesystem>
#include <vector>

namespace tidemark::viewer {

// In the order of their PCI bus ids, which is how nvidia-smi counts. Empty without the driver. `root` is for tests.
[[nodiscard]] std::vector<NodeFact> gpus_of_kernel_driver(
    const std::filesystem::path& root = "/proc/driver/nvidia/gpus");

}  // namespace tidemark::viewer
