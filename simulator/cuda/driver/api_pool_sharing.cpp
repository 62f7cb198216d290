// Pools between processes: the pool goes as a descriptor, each allocation as a piece of data that names it.
#include "simulator/cuda/driver/internal_api.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

using namespace cuda_sim;

namespace {

constexpr std::uint64_t kMagic = 0x314C'4F4F'5053'5543;  // "CUSPOOL1"

// What the descriptor of a pool holds.
struct Shared {
  std::uint64_t magic = 0;
  std::int32_t machine_index = 0;
};

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolExportToShareableHandle(void* out, CUmemoryPool handle,
                                                                  CUmemAllocationHandleType type,
                                                                  unsigned long long flags) {
  return with_driver(__func__, [&](Call& call) {
    const std::optional<Pools::Pool> pool = call.driver.pools.find(handle);
    if (!out || !pool || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || pool->handle_types != type) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const int fd = memfd_create("simulated-memory-pool", MFD_CLOEXEC);
    const Shared shared{kMagic, call.driver.machine_index(pool->device)};
    if (fd < 0 || pwrite(fd, &shared, sizeof shared, 0) != static_cast<ssize_t>(sizeof shared)) {
      if (fd >= 0) {
        close(fd);
      }
      return CUDA_ERROR_OPERATING_SYSTEM;
    }
    std::memcpy(out, &fd, sizeof fd);
    return CUDA_SUCCESS;
  });
}

// The descriptor stays the caller's.
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* handle,
                                                                    CUmemAllocationHandleType type,
                                                                    unsigned long long flags) {
  return with_driver(__func__, [&](Call& call) {
    const int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
    Shared shared;
    if (!out || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        pread(fd, &shared, sizeof shared, 0) != static_cast<ssize_t>(sizeof shared) || shared.magic != kMagic) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUdevice device = call.driver.ordinal_of(shared.machine_index);
    if (device < 0) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    *out = call.driver.pools.create({.device = device, .is_imported = true});
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr pointer) {
  static_assert(sizeof(CUmemPoolPtrExportData) == sizeof(CUipcMemHandle));
  return with_driver(__func__, [&](Call& call) {
    const std::optional<Pools::Pool> pool = call.driver.pools.find(call.driver.pools.pool_of(pointer));
    if (!out || !pool || pool->handle_types == CU_MEM_HANDLE_TYPE_NONE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    CUipcMemHandle handle{};
    const CUresult code = call.driver.imports.describe(pointer, handle);
    if (code == CUDA_SUCCESS) {
      std::memcpy(out, &handle, sizeof handle);
    }
    return code;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool handle,
                                                        CUmemPoolPtrExportData* data) {
  return with_context(__func__, [&](Call& call) {
    const std::optional<Pools::Pool> pool = call.driver.pools.find(handle);
    if (!pointer || !data || !pool || !pool->is_imported) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    CUipcMemHandle source{};
    std::memcpy(&source, data, sizeof source);
    return call.driver.imports.open(call.context->owner(), source, *pointer, true);
  });
}
