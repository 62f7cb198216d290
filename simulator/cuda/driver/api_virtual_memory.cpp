// Virtual memory management: physical memory by handles, reserved addresses, mappings and who may reach them. Needs no
// context.
#include <cstring>

#include "simulator/cuda/driver/call.hpp"

using namespace cuda_sim;

namespace {

// Numbered here, as older headers don't have all the types.
constexpr int kHost = 2;
constexpr int kHostNode = 3;

bool is_granular(std::uint64_t value) { return value % kGranularity == 0; }

// The machine's index of a place, or sim::kTheHost.
CUresult to_place(const Driver& driver, const CUmemLocation& location, int& place) {
  const int type = static_cast<int>(location.type);
  if (type == CU_MEM_LOCATION_TYPE_DEVICE) {
    if (!driver.has_device(location.id)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    place = driver.machine_index(location.id);
    return CUDA_SUCCESS;
  }
  place = sim::kTheHost;
  return type == kHost || type == kHostNode ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_properties(const Driver& driver, const CUmemAllocationProp* properties, int& place) {
  if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || properties->win32HandleMetaData) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult code = to_place(driver, properties->location, place); code != CUDA_SUCCESS) {
    return code;
  }
  const bool host = static_cast<int>(properties->location.type) == kHost;
  switch (static_cast<int>(properties->requestedHandleTypes)) {
    case CU_MEM_HANDLE_TYPE_NONE:
      return CUDA_SUCCESS;
    case CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
      return host ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetAllocationGranularity(size_t* granularity,
                                                               const CUmemAllocationProp* properties,
                                                               CUmemAllocationGranularity_flags option) {
  return with_driver(__func__, [&](Call& call) {
    const bool known = option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    if (!granularity || !known) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    int place = 0;
    const CUresult code = check_properties(call.driver, properties, place);
    if (code == CUDA_SUCCESS) {
      *granularity = kGranularity;
    }
    return code;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                                             const CUmemAllocationProp* properties, unsigned long long flags) {
  return with_driver(
      __func__,
      [&](Call& call) {
        call.scope.note("size=%zu", size);
        if (!handle || size == 0 || !is_granular(size) || flags != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        int place = 0;
        if (const CUresult code = check_properties(call.driver, properties, place); code != CUDA_SUCCESS) {
          return code;
        }
        call.driver.gate.delay_alloc();
        call.driver.pools.collect();
        CUresult code = call.driver.physical.create(*properties, place, size, *handle);
        if (code == CUDA_ERROR_OUT_OF_MEMORY) {
          call.driver.pools.drain();
          code = call.driver.physical.create(*properties, place, size, *handle);
        }
        return code;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle) {
  return with_driver(__func__, [&](Call& call) {
    call.scope.note("handle=%#llx", handle);
    call.driver.gate.delay_free();
    return call.driver.physical.release(handle);
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return with_driver(__func__, [&](Call& call) {
    return handle ? call.driver.physical.retain(reinterpret_cast<CUdeviceptr>(address), *handle)
                  : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                                        CUmemGenericAllocationHandle handle) {
  return with_driver(__func__, [&](Call& call) {
    const std::optional<Physical> physical = call.driver.physical.find(handle);
    if (!properties || !physical) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *properties = physical->properties;
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                                              CUmemAllocationHandleType type,
                                                              unsigned long long flags) {
  return with_driver(__func__, [&](Call& call) {
    if (!out || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    int fd = -1;
    const CUresult code = call.driver.physical.export_descriptor(handle, fd);
    if (code == CUDA_SUCCESS) {
      std::memcpy(out, &fd, sizeof fd);
    }
    return code;
  });
}

// The descriptor stays the caller's.
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shared,
                                                                CUmemAllocationHandleType type) {
  return with_driver(__func__, [&](Call& call) {
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(shared));
    return call.driver.physical.import_descriptor(fd, call.driver.devices, *handle);
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr* pointer, size_t size, size_t alignment,
                                                     CUdeviceptr wanted, unsigned long long flags) {
  return with_driver(
      __func__,
      [&](Call& call) {
        call.scope.note("size=%zu", size);
        if (!pointer || size == 0 || !is_granular(size) || (alignment & (alignment - 1)) != 0 || flags != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        sim::Address base = 0;
        const CUresult code = to_code(call.driver.machine.virtual_memory().reserve(size, alignment, wanted, base));
        if (code == CUDA_SUCCESS) {
          call.scope.note("address=%#llx", static_cast<unsigned long long>(base));
          *pointer = base;
        }
        return code;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAddressFree(CUdeviceptr pointer, size_t size) {
  return with_driver(__func__, [&](Call& call) {
    call.scope.note("address=%#llx size=%zu", pointer, size);
    return call.driver.graph_memory.has(pointer) ? CUDA_ERROR_INVALID_VALUE
                                                 : to_code(call.driver.machine.virtual_memory().free(pointer, size));
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemMap(CUdeviceptr pointer, size_t size, size_t offset,
                                          CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return with_driver(
      __func__,
      [&](Call& call) {
        call.scope.note("address=%#llx size=%zu handle=%#llx", pointer, size, handle);
        if (size == 0 || !is_granular(size) || !is_granular(pointer) || call.driver.graph_memory.has(pointer) ||
            offset != 0 || flags != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        return call.driver.physical.map(pointer, size, handle);
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

// Waits for nothing: work that comes too late meets an illegal address, which is how a missing wait shows.
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemUnmap(CUdeviceptr pointer, size_t size) {
  return with_driver(__func__, [&](Call& call) {
    call.scope.note("address=%#llx size=%zu", pointer, size);
    return call.driver.physical.unmap(pointer, size);
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc* wanted,
                                                size_t count) {
  return with_driver(__func__, [&](Call& call) {
    call.scope.note("address=%#llx size=%zu", pointer, size);
    if (!wanted || count == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t i = 0; i < count; ++i) {
      int who = 0;
      if (const CUresult code = to_place(call.driver, wanted[i].location, who); code != CUDA_SUCCESS) {
        return code;
      }
      const auto flags = static_cast<int>(wanted[i].flags);
      if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
          flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      const auto access = static_cast<sim::Access>(flags);
      const CUresult code = to_code(call.driver.machine.virtual_memory().set_access(pointer, size, who, access));
      if (code != CUDA_SUCCESS) {
        return code;
      }
    }
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                                CUdeviceptr pointer) {
  return with_driver(__func__, [&](Call& call) {
    const auto mapping = call.driver.machine.virtual_memory().find(pointer);
    if (!flags || !location || !mapping) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    int who = 0;
    if (const CUresult code = to_place(call.driver, *location, who); code != CUDA_SUCCESS) {
      return code;
    }
    const auto found = mapping->access.find(who);
    *flags = found != mapping->access.end() ? static_cast<unsigned long long>(found->second) : 0;
    return CUDA_SUCCESS;
  });
}
