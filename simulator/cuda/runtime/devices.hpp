// The calling thread's device and the primary contexts that this runtime keeps retained. Any thread may call.
#pragma once

#include "simulator/cuda/runtime/call.hpp"

namespace cuda_sim {

// Makes the device's primary context current and remembers the device for the thread.
cudaError_t use_device(const DriverApi& driver, int device);
// The device of the current context, else the one that the thread would use.
cudaError_t current_device(const DriverApi& driver, int& device);
// Destroys the primary context and gives up this runtime's hold on it; the next call makes a new one.
cudaError_t reset_device(const DriverApi& driver, int device);
cudaError_t check_device(const DriverApi& driver, int device);

}  // namespace cuda_sim
