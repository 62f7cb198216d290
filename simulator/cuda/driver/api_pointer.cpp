// What a pointer is.
#include <cstring>

#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

struct Description {
  bool is_device = false;
  sim::Allocation allocation{};
  CUdevice device = -1;
  Context* context = nullptr;  // NULL: of a pool or imported
  CUmemoryPool pool = nullptr;
  std::optional<HostRange> host{};

  [[nodiscard]] bool is_known() const { return is_device || host; }
};

Description describe(Driver& driver, CUdeviceptr pointer) {
  Description what;
  const sim::Place place = driver.machine.place(pointer);
  if (place.live) {
    what.is_device = true;
    what.allocation = place.allocation;
    what.device = driver.ordinal_of(place.device);
    what.context = driver.contexts.owner_of(place.allocation.owner);
    what.pool = driver.pools.owns(place.allocation.base) ? driver.pools.default_pool(what.device) : nullptr;
  } else if (auto range = driver.host_memory.find(reinterpret_cast<const void*>(pointer))) {
    what.host = range;
    what.context = range->context;
    what.device = range->context->device;
  }
  return what;
}

template <class T>
CUresult put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

// Requires: what.is_known().
CUresult read(const Description& what, CUpointer_attribute attribute, CUdeviceptr pointer, void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return what.context ? put(out, what.context->handle()) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(out, what.is_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(out, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return what.host ? put(out, pointer) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<unsigned>(out, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: {
      const std::uint64_t device = static_cast<std::uint64_t>(what.device);
      return put<unsigned long long>(out, what.host ? what.host->base : (device + 1) << 56 | what.allocation.serial);
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(out, what.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put<int>(out, what.is_device && what.context);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put<CUdeviceptr>(out, what.host ? what.host->base : what.allocation.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put<std::size_t>(out, what.host ? what.host->size : what.allocation.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<int>(out, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put<unsigned long long>(out, 0);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(out, what.pool);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// What the plural form writes where an attribute has no value.
void write_default(CUpointer_attribute attribute, void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      put<unsigned>(out, 0);
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      put<int>(out, -2);  // cudaInvalidDeviceId
      break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      break;  // a struct of the caller's; left as it is
    default:
      put<unsigned long long>(out, 0);
  }
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return with_context(__func__, [&](Call& call) {
    const Description what = describe(call.driver, pointer);
    return out && what.is_known() ? read(what, attribute, pointer, out) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** out,
                                                        CUdeviceptr pointer) {
  return with_context(__func__, [&](Call& call) {
    if (!attributes || !out) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Description what = describe(call.driver, pointer);
    for (unsigned i = 0; i < count; ++i) {
      if (!what.is_known() || read(what, attributes[i], pointer, out[i]) != CUDA_SUCCESS) {
        write_default(attributes[i], out[i]);
      }
    }
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                                       CUdeviceptr pointer) {
  return with_context(__func__, [&](Call& call) {
    const Description what = describe(call.driver, pointer);
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !what.is_device) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // Copies that involve device memory already wait wherever a program could tell.
    return CUDA_SUCCESS;
  });
}
