// What a simulated device says of itself: a plain compute device of capability 8.0 with numbers that programs can live
// with.
#pragma once

#include <cuda.h>

#include <optional>

namespace cuda_sim {

// 0 for a feature that is not simulated; nothing for a number that is no attribute.
std::optional<int> device_attribute(CUdevice_attribute attribute, int machine_index);

}  // namespace cuda_sim
