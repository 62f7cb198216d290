// Pools of the program and external memory.
#include "simulator/cuda/runtime/call.hpp"

using namespace cuda_sim;

// The structs of both libraries are laid out alike.
static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));

namespace {

CUexternalMemory to_driver(cudaExternalMemory_t memory) { return reinterpret_cast<CUexternalMemory>(memory); }

}  // namespace

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* what) {
  return with_driver([&](const DriverApi& driver) {
    return call(driver.mem_pool_create, pool, reinterpret_cast<const CUmemPoolProps*>(what));
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t pool) {
  return with_driver([&](const DriverApi& driver) { return call(driver.mem_pool_destroy, pool); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc* wanted,
                                                           size_t count) {
  return with_driver([&](const DriverApi& driver) {
    return call(driver.mem_pool_set_access, pool, reinterpret_cast<const CUmemAccessDesc*>(wanted), count);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaImportExternalMemory(cudaExternalMemory_t* memory,
                                                               const struct cudaExternalMemoryHandleDesc* what) {
  return with_context([&](const DriverApi& driver) {
    if (!memory || !what) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC wanted{};
    wanted.type = static_cast<CUexternalMemoryHandleType>(what->type);
    wanted.handle.fd = what->handle.fd;
    wanted.size = what->size;
    wanted.flags = what->flags;
    return call(driver.import_external_memory, reinterpret_cast<CUexternalMemory*>(memory),
                static_cast<const CUDA_EXTERNAL_MEMORY_HANDLE_DESC*>(&wanted));
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaExternalMemoryGetMappedBuffer(
    void** pointer, cudaExternalMemory_t memory, const struct cudaExternalMemoryBufferDesc* what) {
  return with_context([&](const DriverApi& driver) {
    if (!pointer || !what) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC wanted{};
    wanted.offset = what->offset;
    wanted.size = what->size;
    wanted.flags = what->flags;
    CUdeviceptr address = 0;
    const CUresult code = call(driver.external_memory_map, &address, to_driver(memory),
                               static_cast<const CUDA_EXTERNAL_MEMORY_BUFFER_DESC*>(&wanted));
    if (code == CUDA_SUCCESS) {
      *pointer = to_pointer(address);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDestroyExternalMemory(cudaExternalMemory_t memory) {
  return with_context([&](const DriverApi& driver) { return call(driver.destroy_external_memory, to_driver(memory)); });
}
