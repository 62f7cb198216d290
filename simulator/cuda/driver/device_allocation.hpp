// What every function does that takes a context's device memory, or gives it back. Any thread may call.
#pragma once

#include <cuda.h>

#include "simulator/cuda/driver/call.hpp"

namespace cuda_sim {

// Memory of the current context. Not during a capture; pools give back what they can before there is said to be none.
CUresult allocate_on_device(Call& call, std::size_t size, sim::Address& out);
// Waits for the device's work, as a free does. The owner's illegal address is the caller's error.
CUresult wait_before_free(Call& call, const sim::Place& place);

}  // namespace cuda_sim
