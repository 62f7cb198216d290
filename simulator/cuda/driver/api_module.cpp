// Modules and kernels (modules.hpp).
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

CUresult load(const char* name, CUmodule* module, const void* source) {
  return with_context(name, [&](Call& call) {
    if (!module || !source) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *module = call.driver.modules.load();
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* file) {
  return load(__func__, module, file);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  return load(__func__, module, image);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*,
                                                    void**) {
  return load(__func__, module, image);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(__func__, module, image);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  return with_driver(__func__, [&](Call& call) {
    return call.driver.modules.unload(module) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleGetFunction(CUfunction* kernel, CUmodule module, const char* name) {
  return with_context(__func__, [&](Call& call) {
    if (!kernel || !name) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *kernel = call.driver.modules.kernel(module, name);
    return *kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr*, size_t*, CUmodule module, const char* name) {
  return with_context(__func__, [&](Call& call) {
    if (!name) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return call.driver.modules.has(module) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return with_driver(__func__, [&](Call&) {
    if (!mode) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuProfilerStart(void) { return CUDA_SUCCESS; }
CUDA_SIM_EXPORT CUresult CUDAAPI cuProfilerStop(void) { return CUDA_SUCCESS; }
