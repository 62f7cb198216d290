// Memory of other interfaces, by descriptor. Semaphores and arrays in it are not simulated.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

CUDA_SIM_EXPORT CUresult CUDAAPI cuImportExternalMemory(CUexternalMemory* memory,
                                                        const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* what) {
  return with_context(
      __func__,
      [&](Call& call) {
        if (!memory || !what || what->size == 0 || what->flags & ~unsigned{CUDA_EXTERNAL_MEMORY_DEDICATED}) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        call.scope.note("size=%llu", what->size);
        if (what->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) {
          return CUDA_ERROR_NOT_SUPPORTED;
        }
        return call.driver.external.import(call.context->owner(), what->handle.fd, what->size, *memory);
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuExternalMemoryGetMappedBuffer(CUdeviceptr* pointer, CUexternalMemory memory,
                                                                 const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* what) {
  return with_context(
      __func__,
      [&](Call& call) {
        if (!pointer || !what || what->size == 0 || what->flags != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        call.scope.note("offset=%llu size=%llu", what->offset, what->size);
        return call.driver.external.map(call.context->owner(), memory, what->offset, what->size, *pointer);
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDestroyExternalMemory(CUexternalMemory memory) {
  return with_context(__func__, [&](Call& call) { return call.driver.external.destroy(memory); });
}
