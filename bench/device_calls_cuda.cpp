// The driver's entry points, as every CUDA runtime ends in them.
#include <cuda.h>

#include "bench/device_calls.hpp"

namespace tidemark::bench {

const char* const kLibrary = "cuda";

bool prepare() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
         cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS;
}

void* take(std::size_t size) {
  CUdeviceptr block = 0;
  return cuMemAlloc(&block, size) == CUDA_SUCCESS ? reinterpret_cast<void*>(block) : nullptr;
}

void give(void* block) { cuMemFree(reinterpret_cast<CUdeviceptr>(block)); }

}  // namespace tidemark::bench
