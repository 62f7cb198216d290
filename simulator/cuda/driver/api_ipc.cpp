// Memory shared between processes. Events are not.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

CUresult open(const char* name, CUdeviceptr* pointer, const CUipcMemHandle& handle, unsigned flags) {
  return with_context(name, [&](Call& call) {
    if (!pointer || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return call.driver.imports.open(call.context->owner(), handle, *pointer);
  });
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  return with_context(__func__, [&](Call& call) {
    call.scope.note("address=%#llx", pointer);
    const sim::Place place = call.driver.machine.place(pointer);
    // Memory of a pool goes to other processes with the pool, mapped memory with its handle.
    if (!handle || !place.live || place.is_virtual || call.driver.pools.owns(place.allocation.base)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // Any address in an allocation will do: the handle is the allocation's, and so is what the importer opens.
    return call.driver.imports.describe(pointer, *handle);
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
  return open(__func__, pointer, handle, flags);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle,
                                                       unsigned int flags) {
  return open(__func__, pointer, handle, flags);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr pointer) {
  return with_context(__func__, [&](Call& call) {
    call.scope.note("address=%#llx", pointer);
    return call.driver.imports.close(pointer);
  });
}
