// Memory pools: the default ones, those of the program, and access to them. Of the host's memory there is no default
// one.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

CUresult tell_pool(const char* name, CUmemoryPool* pool, CUdevice device,
                   CUmemoryPool (Pools::*which)(CUdevice) const) {
  return with_driver(name, [&](Call& call) {
    if (!pool) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!call.driver.has_device(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *pool = (call.driver.pools.*which)(device);
    return CUDA_SUCCESS;
  });
}

template <class Body>
CUresult with_pool(const char* name, CUmemoryPool handle, Body&& body) {
  return with_driver(name, [&](Call& call) {
    const std::optional<Pools::Pool> pool = call.driver.pools.find(handle);
    return pool ? body(call.driver, *pool) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult read(const Pools::Pool& pool, CUmemPool_attribute attribute, void* value) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *static_cast<int*>(value) = 1;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *static_cast<cuuint64_t*>(value) = pool.release_threshold;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *static_cast<cuuint64_t*>(value) = pool.usage.used;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *static_cast<cuuint64_t*>(value) = pool.usage.highest;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult write(Pools& pools, CUmemoryPool pool, CUmemPool_attribute attribute, const void* value) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pools.set_release_threshold(pool, *static_cast<const cuuint64_t*>(value));
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (*static_cast<const cuuint64_t*>(value) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      pools.reset_highest(pool);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return tell_pool(__func__, pool, device, &Pools::default_pool);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return tell_pool(__func__, pool, device, &Pools::current_pool);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return with_driver(__func__, [&](Call& call) {
    return call.driver.has_device(device) ? call.driver.pools.set_current(device, pool) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* what) {
  return with_driver(
      __func__,
      [&](Call& call) {
        if (!pool || !what || what->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        // Numbered, as older headers don't have all the types.
        constexpr int kHost = 2;
        constexpr int kHostNode = 3;
        const int type = static_cast<int>(what->location.type);
        const bool is_host = type == kHost || type == kHostNode;
        if (!is_host && type != CU_MEM_LOCATION_TYPE_DEVICE) {
          return CUDA_ERROR_NOT_SUPPORTED;
        }
        if (!is_host && !call.driver.has_device(what->location.id)) {
          return CUDA_ERROR_INVALID_DEVICE;
        }
        if (is_host && what->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
          return CUDA_ERROR_NOT_SUPPORTED;
        }
        if (what->handleTypes != CU_MEM_HANDLE_TYPE_NONE &&
            what->handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
          return CUDA_ERROR_NOT_SUPPORTED;
        }
        Pools::Pool made{.device = is_host ? Pools::kOnTheHost : what->location.id, .handle_types = what->handleTypes};
#if CUDA_VERSION >= 12020
        made.most = what->maxSize;
#endif
        *pool = call.driver.pools.create(made);
        return CUDA_SUCCESS;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool) {
  return with_driver(__func__, [&](Call& call) { return call.driver.pools.destroy(pool); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* wanted, size_t count) {
  return with_pool(__func__, handle, [&](Driver& driver, const Pools::Pool& pool) {
    for (std::size_t i = 0; i < count; ++i) {
      const int device = wanted ? wanted[i].location.id : -1;
      if (!wanted || wanted[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      if (!driver.has_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
      }
      // Its own device always has access.
      if (device == pool.device && wanted[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      driver.pools.set_access(handle, device, wanted[i].flags);
    }
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                                                    CUmemLocation* location) {
  return with_pool(__func__, handle, [&](Driver& driver, const Pools::Pool& pool) {
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!driver.has_device(location->id)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    const auto found = pool.access.find(location->id);
    const bool own = location->id == pool.device;
    *flags = found != pool.access.end() ? found->second
             : own                      ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                        : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return with_pool(__func__, pool, [](Driver& driver, const Pools::Pool&) {
    driver.pools.collect();
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                                       void* value) {
  return with_pool(__func__, handle, [&](Driver&, const Pools::Pool& pool) {
    return value ? read(pool, attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                                       void* value) {
  return with_pool(__func__, handle, [&](Driver& driver, const Pools::Pool&) {
    return value ? write(driver.pools, handle, attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

#if CUDA_VERSION >= 13000
// The same by location and type; there are pools of pinned device memory alone.
namespace {

template <class Body>
CUresult with_location(const char* name, const CUmemLocation* location, CUmemAllocationType type, Body&& body) {
  return with_driver(name, [&](Call& call) {
    if (!location || type == CU_MEM_ALLOCATION_TYPE_INVALID) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED || location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    return call.driver.has_device(location->id) ? body(call.driver.pools) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult tell(CUmemoryPool* out, CUmemoryPool pool) {
  if (!out) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *out = pool;
  return CUDA_SUCCESS;
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                                        CUmemAllocationType type) {
  return with_location(__func__, location, type,
                       [&](const Pools& pools) { return tell(pool, pools.default_pool(location->id)); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                                 CUmemAllocationType type) {
  return with_location(__func__, location, type,
                       [&](const Pools& pools) { return tell(pool, pools.current_pool(location->id)); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return with_location(__func__, location, type, [&](Pools& pools) { return pools.set_current(location->id, pool); });
}
#endif
