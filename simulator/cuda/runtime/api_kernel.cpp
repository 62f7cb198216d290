// What programs ask of their kernels.
#include "simulator/cuda/runtime/kernels.hpp"

using namespace cuda_sim;

namespace {

template <class Body>
cudaError_t with_kernel(const void* kernel, Body&& body) {
  return with_context([&](const DriverApi& driver) {
    CUfunction function = nullptr;
    const CUresult code = kernel ? any_kernel(driver, function) : CUDA_ERROR_INVALID_VALUE;
    return code == CUDA_SUCCESS ? body(driver, function) : code;
  });
}

}  // namespace

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes* out, const void* kernel) {
  return with_kernel(kernel, [&](const DriverApi& driver, CUfunction function) {
    if (!out) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *out = {};
    const struct {
      CUfunction_attribute attribute;
      int* value;
    } asked[] = {{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->maxThreadsPerBlock},
                 {CU_FUNC_ATTRIBUTE_NUM_REGS, &out->numRegs},
                 {CU_FUNC_ATTRIBUTE_PTX_VERSION, &out->ptxVersion},
                 {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &out->binaryVersion},
                 {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &out->maxDynamicSharedSizeBytes}};
    for (const auto& one : asked) {
      if (const CUresult code = call(driver.func_get_attribute, one.value, one.attribute, function);
          code != CUDA_SUCCESS) {
        return code;
      }
    }
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFuncSetAttribute(const void* kernel, enum cudaFuncAttribute, int) {
  return with_kernel(kernel, [](const DriverApi&, CUfunction) { return CUDA_SUCCESS; });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void* kernel, enum cudaFuncCache) {
  return with_kernel(kernel, [](const DriverApi&, CUfunction) { return CUDA_SUCCESS; });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                                             const void* kernel,
                                                                                             int threads, size_t shared,
                                                                                             unsigned int flags) {
  return with_kernel(kernel, [&](const DriverApi& driver, CUfunction function) {
    return call(driver.occupancy_max_active_blocks, blocks, function, threads, shared, flags);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                                                    int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, 0);
}
