// What a pointer is.
#include <sys/mman.h>

#include <cstring>

#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

struct Description {
  bool is_device = false;
  bool is_virtual = false;  // mapped
  bool is_on_host = false;  // mapped, and the host's
  sim::Allocation allocation{};
  CUdevice device = -1;
  Context* context = nullptr;  // NULL: of a pool or imported
  CUmemoryPool pool = nullptr;
  bool sync_memops = false;
  std::optional<HostRange> host{};
  std::optional<ManagedRange> managed{};

  [[nodiscard]] bool is_known() const { return is_device || host || managed; }
  [[nodiscard]] CUdeviceptr base() const { return host ? host->base : managed ? managed->base : allocation.base; }
  [[nodiscard]] std::size_t size() const { return host ? host->size : managed ? managed->size : allocation.size; }
  // Device memory's numbers differ between devices; a managed one's between them and the next of its kind.
  [[nodiscard]] unsigned long long id() const {
    constexpr std::uint64_t kManaged = 0xFF;
    constexpr std::uint64_t kVirtual = 0xFE;
    const std::uint64_t group = managed ? kManaged : is_virtual ? kVirtual : static_cast<std::uint64_t>(device) + 1;
    return host ? host->base : group << 56 | (managed ? managed->serial : allocation.serial);
  }
};

Description describe(Driver& driver, CUdeviceptr pointer) {
  Description what;
  const sim::Place place = driver.machine.place(pointer);
  if (place.live) {
    what.is_device = true;
    what.allocation = place.allocation;
    what.device = driver.ordinal_of(place.device);
    what.is_virtual = place.is_virtual;
    what.is_on_host = place.device < 0;
    what.context = driver.contexts.owner_of(place.allocation.owner);
    what.sync_memops = driver.pointer_flags.sync_memops(place.allocation.base, place.allocation.serial);
    what.pool = driver.pools.pool_of(place.allocation.base);
  } else if (auto range = driver.host_memory.find(reinterpret_cast<const void*>(pointer))) {
    what.host = range;
    what.context = range->context;
    what.device = range->context->device;
  } else if (auto managed = driver.managed.find(pointer)) {
    what.managed = managed;
    what.context = managed->context;
    what.device = managed->context->device;
  }
  return what;
}

template <class T>
CUresult put(void* out, T value) {
  std::memcpy(out, &value, sizeof(T));
  return CUDA_SUCCESS;
}

// Requires: what.is_known().
CUresult read(const Description& what, CUpointer_attribute attribute, CUdeviceptr pointer, void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return what.context ? put(out, what.context->handle()) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(out, what.host || what.is_on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(out, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return what.host || what.managed ? put(out, pointer) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put<unsigned>(out, what.sync_memops);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<unsigned>(out, what.managed.has_value());
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put<unsigned long long>(out, what.id());
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(out, what.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put<int>(out, what.is_device && what.context);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put<CUdeviceptr>(out, what.base());
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put<std::size_t>(out, what.size());
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<int>(out, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put<unsigned long long>(out, 0);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(out, what.pool);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return what.is_device && what.context ? put(out, CUDA_POINTER_ATTRIBUTE_P2P_TOKENS{what.id(), 1})
                                            : CUDA_ERROR_INVALID_VALUE;
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
    unsigned on = 0;
    std::memcpy(&on, value, sizeof on);
    // Kept and told: copies that involve device memory already wait wherever a program could tell.
    call.driver.pointer_flags.set_sync_memops(what.allocation.base, what.allocation.serial, on != 0);
    return CUDA_SUCCESS;
  });
}

#if CUDA_VERSION >= 11070
// A descriptor that stands for the range: nothing here could do DMA to it.
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetHandleForAddressRange(void* out, CUdeviceptr pointer, size_t size,
                                                               CUmemRangeHandleType type, unsigned long long) {
  return with_context(__func__, [&](Call& call) {
    constexpr std::size_t kPage = 4096;
    const sim::Place place = call.driver.machine.place(pointer);
    const bool aligned = pointer % kPage == 0 && size % kPage == 0;
    if (!out || size == 0 || !aligned || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || !place.live ||
        place.device < 0 || size > place.allocation.size - (pointer - place.allocation.base)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const int fd = memfd_create("simulated-dma-buf", MFD_CLOEXEC);
    if (fd < 0) {
      return CUDA_ERROR_OPERATING_SYSTEM;
    }
    std::memcpy(out, &fd, sizeof fd);
    return CUDA_SUCCESS;
  });
}
#endif
