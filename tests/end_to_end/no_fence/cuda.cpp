// A CUDA driver whose synchronise doesn't: loaded between the shim and the real driver, it takes the shim's fence away.
// It must be found first for the allocation calls too, as the shim looks for its other functions beside them.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) CUresult cuMemAlloc_v2(CUdeviceptr* ptr, size_t size) {
  static const auto real = reinterpret_cast<decltype(&cuMemAlloc_v2)>(dlsym(RTLD_NEXT, "cuMemAlloc_v2"));
  return real(ptr, size);
}

extern "C" __attribute__((visibility("default"))) CUresult cuMemFree_v2(CUdeviceptr ptr) {
  static const auto real = reinterpret_cast<decltype(&cuMemFree_v2)>(dlsym(RTLD_NEXT, "cuMemFree_v2"));
  return real(ptr);
}

extern "C" __attribute__((visibility("default"))) CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
