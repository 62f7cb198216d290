// The functions that act on a stream, with the legacy default stream for 0.
#include "simulator/cuda/runtime/array_shapes.hpp"
#include "simulator/cuda/runtime/devices.hpp"
#include "simulator/cuda/runtime/kernels.hpp"

using namespace cuda_sim;

namespace {
constexpr StreamFunctions DriverApi::*kFunctions = &DriverApi::legacy;
constexpr cuuint64_t kDefaultFlags = CU_GET_PROC_ADDRESS_DEFAULT;
}  // namespace

#include "simulator/cuda/runtime/streamed_functions.inc"
