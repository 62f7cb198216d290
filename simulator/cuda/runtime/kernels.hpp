// Kernels of the program as the driver's: each takes its time there and computes nothing. Any thread may call.
#pragma once

#include "simulator/cuda/runtime/call.hpp"

namespace cuda_sim {

// The one that stands for them all. Requires: a current context.
CUresult any_kernel(const DriverApi& driver, CUfunction& out);

}  // namespace cuda_sim
