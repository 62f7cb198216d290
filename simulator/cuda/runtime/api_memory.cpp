// Device memory, pinned host memory, pointers, IPC, pools: everything that acts on no stream.
#include <cstring>

#include "simulator/cuda/runtime/devices.hpp"

using namespace cuda_sim;

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMalloc(void** pointer, size_t size) {
  return with_context([&](const DriverApi& driver) {
    if (!pointer) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (size == 0) {
      *pointer = nullptr;
      return CUDA_SUCCESS;  // decided here: the driver would refuse it
    }
    CUdeviceptr address = 0;
    const CUresult code = call(driver.mem_alloc, &address, size);
    if (code == CUDA_SUCCESS) {
      *pointer = to_pointer(address);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFree(void* pointer) {
  return with_context([&](const DriverApi& driver) { return call(driver.mem_free, to_device(pointer)); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return with_context([&](const DriverApi& driver) {
    if (!pointer || !pitch) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (width == 0 || height == 0) {
      *pointer = nullptr;
      *pitch = 0;
      return CUDA_SUCCESS;
    }
    CUdeviceptr address = 0;
    const CUresult code = call(driver.mem_alloc_pitch, &address, pitch, width, height, 4U);
    if (code == CUDA_SUCCESS) {
      *pointer = to_pointer(address);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMalloc3D(struct cudaPitchedPtr* pitched, struct cudaExtent extent) {
  if (!pitched) {
    return record(cudaErrorInvalidValue);
  }
  *pitched = cudaPitchedPtr{.ptr = nullptr, .pitch = 0, .xsize = extent.width, .ysize = extent.height};
  return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  return with_context([&](const DriverApi& driver) {
    CUdeviceptr address = 0;
    if (!pointer || size == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUresult code = call(driver.mem_alloc_managed, &address, size, flags);
    if (code == CUDA_SUCCESS) {
      *pointer = to_pointer(address);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemAdvise(const void* pointer, size_t size, enum cudaMemoryAdvise advice,
#if CUDART_VERSION >= 13000
                                                    struct cudaMemLocation place) {
  const CUmemLocation where{static_cast<CUmemLocationType>(place.type), place.id};
#else
                                                    int place) {
  const CUdevice where = place;
#endif
  return with_context([&](const DriverApi& driver) {
    return call(driver.mem_advise, to_device(pointer), size, static_cast<CUmem_advise>(advice), where);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void* out, size_t room,
                                                               enum cudaMemRangeAttribute attribute,
                                                               const void* pointer, size_t size) {
  return with_context([&](const DriverApi& driver) {
    return call(driver.mem_range_get_attribute, out, room, static_cast<CUmem_range_attribute>(attribute),
                to_device(pointer), size);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemGetInfo(size_t* free, size_t* total) {
  return with_context([&](const DriverApi& driver) { return call(driver.mem_get_info, free, total); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return with_context([&](const DriverApi& driver) {
    if (pointer && size == 0) {
      *pointer = nullptr;
      return CUDA_SUCCESS;
    }
    return call(driver.mem_host_alloc, pointer, size, flags);
  });
}

// The runtime has no other way to pinned memory than cuMemHostAlloc.
CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMallocHost(void** pointer, size_t size) {
  return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFreeHost(void* pointer) {
  return with_context(
      [&](const DriverApi& driver) { return pointer ? call(driver.mem_free_host, pointer) : CUDA_SUCCESS; });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  return with_context([&](const DriverApi& driver) { return call(driver.mem_host_register, pointer, size, flags); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaHostUnregister(void* pointer) {
  return with_context([&](const DriverApi& driver) { return call(driver.mem_host_unregister, pointer); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return with_context([&](const DriverApi& driver) {
    CUdeviceptr address = 0;
    const CUresult code = call(driver.mem_host_get_device_pointer, &address, host, flags);
    if (code == CUDA_SUCCESS && device) {
      *device = to_pointer(address);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int* flags, void* host) {
  return with_context([&](const DriverApi& driver) { return call(driver.mem_host_get_flags, flags, host); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaPointerGetAttributes(struct cudaPointerAttributes* attributes,
                                                               const void* pointer) {
  return with_context([&](const DriverApi& driver) {
    if (!attributes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // The driver answers 0 for each attribute of memory that it doesn't know.
    unsigned type = 0;
    unsigned managed = 0;
    int device = 0;
    CUdeviceptr device_address = 0;
    void* host_address = nullptr;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* values[] = {&type, &device, &device_address, &host_address, &managed};
    const CUresult code = call(driver.pointer_get_attributes, 5U, names, values, to_device(pointer));
    if (code != CUDA_SUCCESS) {
      return code;
    }
    std::memset(attributes, 0, sizeof *attributes);
    attributes->type = managed                        ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                       : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                                      : cudaMemoryTypeUnregistered;
    attributes->device = type == 0 ? cudaInvalidDeviceId : device;
    attributes->devicePointer = to_pointer(device_address);
    attributes->hostPointer = type == 0 ? const_cast<void*>(pointer) : host_address;
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));
  return with_context([&](const DriverApi& driver) {
    return call(driver.ipc_get_mem_handle, reinterpret_cast<CUipcMemHandle*>(handle), to_device(pointer));
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                                           unsigned int flags) {
  return with_context([&](const DriverApi& driver) {
    CUipcMemHandle raw{};
    std::memcpy(&raw, &handle, sizeof raw);
    CUdeviceptr address = 0;
    const CUresult code = pointer ? call(driver.ipc_open_mem_handle, &address, raw, flags) : CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
      *pointer = to_pointer(address);
    }
    return code;
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void* pointer) {
  return with_context([&](const DriverApi& driver) { return call(driver.ipc_close_mem_handle, to_device(pointer)); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return with_driver([&](const DriverApi& driver) { return call(driver.device_get_default_mem_pool, pool, device); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return with_driver([&](const DriverApi& driver) { return call(driver.device_get_mem_pool, pool, device); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return with_driver([&](const DriverApi& driver) { return call(driver.device_set_mem_pool, device, pool); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return with_driver([&](const DriverApi& driver) { return call(driver.mem_pool_trim_to, pool, keep); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                                              void* value) {
  return with_driver([&](const DriverApi& driver) {
    return call(driver.mem_pool_get_attribute, pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                                              void* value) {
  return with_driver([&](const DriverApi& driver) {
    return call(driver.mem_pool_set_attribute, pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}
