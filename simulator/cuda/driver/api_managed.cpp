// Managed memory, and advice on it. Advice and prefetches are kept and told: pages don't move here.
#include "simulator/cuda/driver/internal_api.hpp"

#include <algorithm>
#include <cstring>

#include "simulator/cuda/driver/copies.hpp"

using namespace cuda_sim;

namespace {

constexpr sim::Ticks kPrefetchTicks = 64;

// CUDA_ERROR_INVALID_DEVICE for a device that isn't there.
CUresult to_residence(const Driver& driver, CUdevice device, Residence& out) {
  out = device == CU_DEVICE_CPU ? Residence{Residence::kHost, 0} : Residence{Residence::kDevice, device};
  return device == CU_DEVICE_CPU || driver.has_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

#if CUDA_VERSION >= 12020
CUresult to_residence(const Driver& driver, CUmemLocation location, Residence& out) {
  switch (static_cast<int>(location.type)) {
    case Residence::kDevice:
      out = {Residence::kDevice, location.id};
      return driver.has_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case Residence::kHost:
      out = {Residence::kHost, 0};
      return CUDA_SUCCESS;
    case Residence::kHostNode:
      out = {Residence::kHostNode, location.id};
      return location.id >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case Residence::kNearestNode:
      out = {Residence::kHostNode, 0};
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}
#endif

bool names_a_place(CUmem_advise advice) {
  return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
         advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

void apply(CUmem_advise advice, const Residence& place, Advice& pages) {
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      pages.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
      break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      pages.preferred = place;
      break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      pages.preferred = {};
      break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      pages.accessed_by.insert(place.as_device());
      break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      pages.accessed_by.erase(place.as_device());
      break;
    default:
      break;
  }
}

// `Place`: a CUdevice or a CUmemLocation.
template <class Place>
CUresult advise(const char* name, CUdeviceptr pointer, std::size_t size, CUmem_advise advice, Place place) {
  return with_driver(name, [&](Call& call) {
    call.scope.note("address=%#llx size=%zu", pointer, size);
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Residence residence;
    if (names_a_place(advice)) {
      if (const CUresult code = to_residence(call.driver, place, residence); code != CUDA_SUCCESS) {
        return code;
      }
    }
    const bool preference = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    if (residence.type == Residence::kHostNode && !preference) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return call.driver.managed.advise(pointer, size, [&](Advice& pages) { apply(advice, residence, pages); });
  });
}

template <class Place>
CUresult prefetch(const char* name, CUdeviceptr pointer, std::size_t size, Place place, unsigned flags, CUstream handle,
                  bool zero_is_thread) {
  return with_context(name, [&](Call& call) {
    call.scope.note("address=%#llx size=%zu", pointer, size);
    const auto stream = call.driver.streams.find(handle, *call.context, zero_is_thread);
    if (!stream) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    Residence residence;
    if (const CUresult code = to_residence(call.driver, place, residence); code != CUDA_SUCCESS) {
      return code;
    }
    if (flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (const CUresult code = call.driver.captures.forbid_wait_for(*stream); code != CUDA_SUCCESS) {
      return code;  // a graph can't hold it
    }
    const CUresult code =
        call.driver.managed.advise(pointer, size, [&](Advice& pages) { pages.prefetched = residence; });
    return code == CUDA_SUCCESS ? submit(call, *stream, sim::Kernel{kPrefetchTicks}) : code;
  });
}

CUresult attach(const char* name, CUstream handle, CUdeviceptr pointer, std::size_t size, unsigned flags,
                bool zero_is_thread) {
  return with_context(name, [&](Call& call) {
    const auto stream = call.driver.streams.find(handle, *call.context, zero_is_thread);
    if (!stream) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    const std::optional<ManagedRange> range = call.driver.managed.find(pointer);
    const bool known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE;
    // Only whole allocations are attached.
    if (!range || !known || range->base != pointer || (size != 0 && size != range->size)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return submit(call, *stream, sim::Marker{});
  });
}

CUresult put(void* out, std::size_t room, int value) {
  if (room != sizeof value) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult put_all(void* out, std::size_t room, const std::set<int>& devices) {
  if (room == 0 || room % sizeof(int) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto device = devices.begin();
  for (std::size_t at = 0; at < room; at += sizeof(int)) {
    const int value = device != devices.end() ? *device++ : CU_DEVICE_INVALID;
    std::memcpy(static_cast<char*>(out) + at, &value, sizeof value);
  }
  return CUDA_SUCCESS;
}

CUresult read(const Advice& advice, CUmem_range_attribute attribute, void* out, std::size_t room) {
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return put(out, room, advice.read_mostly);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return put(out, room, advice.preferred.as_device());
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      return put_all(out, room, advice.accessed_by);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return put(out, room, advice.prefetched.as_device());
#if CUDA_VERSION >= 12020
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return put(out, room, advice.preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return put(out, room, advice.preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return put(out, room, advice.prefetched.type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return put(out, room, advice.prefetched.id);
#endif
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* pointer, size_t size, unsigned int flags) {
  return with_context(
      __func__,
      [&](Call& call) {
        call.scope.note("size=%zu", size);
        if (!pointer || size == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
          return code;
        }
        call.driver.gate.delay_alloc();
        return call.driver.managed.allocate(call.context->owner(), size, flags, *pointer);
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAdvise(CUdeviceptr pointer, size_t size, CUmem_advise advice, CUdevice device) {
  return advise(__func__, pointer, size, advice, device);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr pointer, size_t size, CUdevice device,
                                                    CUstream stream) {
  return prefetch(__func__, pointer, size, device, 0, stream, false);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPrefetchAsync_ptsz(CUdeviceptr pointer, size_t size, CUdevice device,
                                                         CUstream stream) {
  return prefetch(__func__, pointer, size, device, 0, stream, true);
}

#if CUDA_VERSION >= 12020
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAdvise_v2(CUdeviceptr pointer, size_t size, CUmem_advise advice,
                                                CUmemLocation location) {
  return advise(__func__, pointer, size, advice, location);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t size, CUmemLocation location,
                                                       unsigned int flags, CUstream stream) {
  return prefetch(__func__, pointer, size, location, flags, stream, false);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuMemPrefetchAsync_v2_ptsz(CUdeviceptr pointer, size_t size, CUmemLocation location,
                                                            unsigned int flags, CUstream stream) {
  return prefetch(__func__, pointer, size, location, flags, stream, true);
}
#endif

CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t size,
                                                        unsigned int flags) {
  return attach(__func__, stream, pointer, size, flags, false);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr pointer, size_t size,
                                                             unsigned int flags) {
  return attach(__func__, stream, pointer, size, flags, true);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemRangeGetAttribute(void* out, size_t room, CUmem_range_attribute attribute,
                                                        CUdeviceptr pointer, size_t size) {
  return with_driver(__func__, [&](Call& call) {
    const std::optional<Advice> advice = call.driver.managed.common_advice(pointer, size);
    return out && advice ? read(*advice, attribute, out, room) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemRangeGetAttributes(void** out, size_t* rooms, CUmem_range_attribute* attributes,
                                                         size_t count, CUdeviceptr pointer, size_t size) {
  return with_driver(__func__, [&](Call& call) {
    const std::optional<Advice> advice = call.driver.managed.common_advice(pointer, size);
    if (!out || !rooms || !attributes || count == 0 || !advice) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (const CUresult code = read(*advice, attributes[i], out[i], rooms[i]); code != CUDA_SUCCESS) {
        return code;
      }
    }
    return CUDA_SUCCESS;
  });
}
