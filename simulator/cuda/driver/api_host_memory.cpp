// Pinned host memory.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

constexpr unsigned kHostAllocFlags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kHostRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                        CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

CUresult allocate(const char* name, void** pointer, std::size_t size, unsigned flags) {
  return with_context(
      name,
      [&](Call& call) {
        call.scope.note("size=%zu", size);
        if (!pointer || size == 0 || flags & ~kHostAllocFlags) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
          return code;
        }
        return call.driver.host_memory.allocate(call.context->owner(), size, flags, *pointer);
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult add(const char* name, void* pointer, std::size_t size, unsigned flags) {
  return with_context(name, [&](Call& call) {
    call.scope.note("size=%zu", size);
    if (!pointer || size == 0 || flags & ~kHostRegisterFlags) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return call.driver.host_memory.add(call.context->owner(), pointer, size, flags);
  });
}

// Work may still read or write the memory that is about to go.
void wait_for_all(Call& call) { call.scheduler().synchronize_everything(); }

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return allocate(__func__, pointer, size, flags);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAllocHost_v2(void** pointer, size_t size) {
  return allocate(__func__, pointer, size, 0);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAllocHost(void** pointer, unsigned int size) {
  return allocate(__func__, pointer, size, 0);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemFreeHost(void* pointer) {
  return with_driver(__func__, [&](Call& call) {
    if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
      return code;
    }
    wait_for_all(call);
    return call.driver.host_memory.free(pointer);
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemHostRegister_v2(void* pointer, size_t size, unsigned int flags) {
  return add(__func__, pointer, size, flags);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemHostRegister(void* pointer, size_t size, unsigned int flags) {
  return add(__func__, pointer, size, flags);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemHostUnregister(void* pointer) {
  return with_driver(__func__, [&](Call& call) {
    wait_for_all(call);
    return call.driver.host_memory.remove(pointer);
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned int flags) {
  return with_context(__func__, [&](Call& call) {
    if (!device || flags != 0 || !call.driver.host_memory.find(host)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *device = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemHostGetFlags(unsigned int* flags, void* host) {
  return with_context(__func__, [&](Call& call) {
    const std::optional<HostRange> range = call.driver.host_memory.find(host);
    if (!flags || !range) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // With one address space all pinned memory is mapped.
    *flags = range->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
  });
}
