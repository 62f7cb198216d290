// A CUDA driver whose synchronise doesn't: loaded between the shim and the real driver, it takes the shim's fence away.
// The shim looks for a driver's functions beside the first one that it found, so whichever that is must be found here.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

#define PASSED_ON(name, parameters, arguments)                                           \
  extern "C" __attribute__((visibility("default"))) CUresult name parameters {           \
    static const auto real = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)); \
    return real arguments;                                                               \
  }

PASSED_ON(cuMemAlloc_v2, (CUdeviceptr * ptr, size_t size), (ptr, size))
PASSED_ON(cuMemFree_v2, (CUdeviceptr ptr), (ptr))
PASSED_ON(cuMemGetInfo_v2, (size_t * free, size_t* total), (free, total))
PASSED_ON(cuCtxGetCurrent, (CUcontext * context), (context))
PASSED_ON(cuCtxGetDevice, (CUdevice * device), (device))
PASSED_ON(cuCtxGetId, (CUcontext context, unsigned long long* id), (context, id))
PASSED_ON(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))

extern "C" __attribute__((visibility("default"))) CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
