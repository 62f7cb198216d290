// Primary contexts. Each of Release, Reset and SetFlags has two ABIs that differ in name alone.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

template <class Body>
CUresult with_device(const char* name, CUdevice device, Body&& body) {
  return with_driver(
      name, [&](Call& call) { return call.driver.has_device(device) ? body(call.driver) : CUDA_ERROR_INVALID_DEVICE; });
}

CUresult release(Driver& driver, CUdevice device) {
  return driver.release_primary(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult reset(Driver& driver, CUdevice device) {
  driver.end_context(driver.contexts.primary(device));
  return CUDA_SUCCESS;
}

CUresult set_flags(Driver& driver, CUdevice device, unsigned flags) {
  if (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  driver.contexts.primary(device).flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return with_device(__func__, device, [&](Driver& driver) {
    if (!context) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *context = driver.contexts.retain(device).handle();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  return with_device(__func__, device, [&](Driver& driver) { return release(driver, device); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return with_device(__func__, device, [&](Driver& driver) { return release(driver, device); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice device) {
  return with_device(__func__, device, [&](Driver& driver) { return reset(driver, device); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return with_device(__func__, device, [&](Driver& driver) { return reset(driver, device); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return with_device(__func__, device, [&](Driver& driver) { return set_flags(driver, device, flags); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  return with_device(__func__, device, [&](Driver& driver) { return set_flags(driver, device, flags); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return with_device(__func__, device, [&](Driver& driver) {
    if (!flags || !active) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Context& context = driver.contexts.primary(device);
    *flags = context.flags;
    *active = context.is_alive();
    return CUDA_SUCCESS;
  });
}
