// From here on the toolkit's headers say cudaMemcpyAsync_ptsz for cudaMemcpyAsync, and so on.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "simulator/cuda/runtime/array_shapes.hpp"
#include "simulator/cuda/runtime/devices.hpp"
#include "simulator/cuda/runtime/kernels.hpp"

using namespace cuda_sim;

namespace {
constexpr StreamFunctions DriverApi::*kFunctions = &DriverApi::per_thread;
constexpr cuuint64_t kDefaultFlags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
}  // namespace

#include "simulator/cuda/runtime/streamed_functions.inc"
