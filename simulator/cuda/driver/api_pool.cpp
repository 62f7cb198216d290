// The default memory pools; pools of the program's own are not simulated.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

CUresult tell_pool(const char* name, CUmemoryPool* pool, CUdevice device) {
  return with_driver(name, [&](Call& call) {
    if (!pool) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!call.driver.has_device(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *pool = call.driver.pools.default_pool(device);
    return CUDA_SUCCESS;
  });
}

template <class Body>
CUresult with_pool(const char* name, CUmemoryPool pool, Body&& body) {
  return with_driver(name, [&](Call& call) {
    const std::optional<CUdevice> device = call.driver.pools.device_of(pool);
    return device ? body(call.driver.pools, *device) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult read(const Pools& pools, CUdevice device, CUmemPool_attribute attribute, void* value) {
  const Pools::Usage usage = pools.usage(device);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *static_cast<int*>(value) = 1;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *static_cast<cuuint64_t*>(value) = pools.release_threshold(device);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *static_cast<cuuint64_t*>(value) = usage.used;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *static_cast<cuuint64_t*>(value) = usage.highest;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult write(Pools& pools, CUdevice device, CUmemPool_attribute attribute, const void* value) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pools.set_release_threshold(device, *static_cast<const cuuint64_t*>(value));
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (*static_cast<const cuuint64_t*>(value) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      pools.reset_highest(device);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return tell_pool(__func__, pool, device);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return tell_pool(__func__, pool, device);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return with_pool(__func__, pool,
                   [&](Pools&, CUdevice owner) { return owner == device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return with_pool(__func__, pool, [](Pools& pools, CUdevice) {
    pools.collect();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return with_pool(__func__, pool, [&](Pools& pools, CUdevice device) {
    return value ? read(pools, device, attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return with_pool(__func__, pool, [&](Pools& pools, CUdevice device) {
    return value ? write(pools, device, attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}
