// Device memory. A free waits for the device's work, as CUDA's does for memory that is not stream-ordered.
#include "simulator/cuda/driver/internal_api.hpp"

#include <limits>

#include "simulator/cuda/driver/device_allocation.hpp"

using namespace cuda_sim;

namespace {

constexpr std::size_t kPitchUnit = 512;

CUresult allocate(Call& call, std::size_t size, CUdeviceptr* out) {
  if (!out || size == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  sim::Address address = 0;
  const CUresult code = allocate_on_device(call, size, address);
  if (code == CUDA_SUCCESS) {
    call.scope.note("address=%#llx", static_cast<unsigned long long>(address));
    *out = address;
  }
  return code;
}

// Any device may be using it.
CUresult release_managed(Call& call, const ManagedRange& range) {
  if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
    return code;
  }
  call.driver.gate.delay_free();
  call.scheduler().synchronize_everything();
  if (range.context->faulted) {
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  return call.driver.managed.free(range.base);
}

// Documented not to wait.
CUresult release_of_pool(Call& call, CUdeviceptr pointer) {
  if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
    return code;
  }
  call.driver.gate.delay_free();
  call.driver.pools.free_now(pointer);
  return CUDA_SUCCESS;
}

// The allocation is found by its address, so any context or none may be current.
CUresult release(Call& call, CUdeviceptr pointer) {
  if (pointer == 0) {
    return CUDA_SUCCESS;
  }
  sim::Machine& machine = call.driver.machine;
  const sim::Place place = machine.place(pointer);
  if (call.driver.pools.owns(pointer) && !call.driver.pools.is_being_freed(pointer)) {
    return release_of_pool(call, pointer);
  }
  if (place.device < 0) {
    const auto range = call.driver.managed.find(pointer);
    return range && range->base == pointer ? release_managed(call, *range) : CUDA_ERROR_INVALID_VALUE;
  }
  if (call.driver.graph_memory.is_live(pointer) && !call.driver.pools.is_being_freed(pointer)) {
    machine.synchronize_device(place.device);
    call.driver.graph_memory.end(pointer);
    return CUDA_SUCCESS;
  }
  const bool is_external = call.driver.external.owns(pointer);
  if (call.driver.imports.is_of_pool(pointer)) {
    return call.driver.imports.close(pointer);
  }
  if (!place.live || place.allocation.base != pointer || (place.allocation.foreign && !is_external) ||
      call.driver.pools.is_being_freed(pointer)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
    return code;
  }
  call.driver.gate.delay_free();
  if (const CUresult code = wait_before_free(call, place); code != CUDA_SUCCESS) {
    return code;
  }
  if (is_external) {
    call.driver.external.unmap(pointer);
    return CUDA_SUCCESS;
  }
  return to_code(machine.release(pointer));
}

std::size_t pitch_of(std::size_t width) { return (width + kPitchUnit - 1) / kPitchUnit * kPitchUnit; }

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr* pointer, size_t size) {
  return with_context(
      __func__,
      [&](Call& call) {
        call.scope.note("size=%zu", size);
        return allocate(call, size, pointer);
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemFree_v2(CUdeviceptr pointer) {
  return with_driver(
      __func__,
      [&](Call& call) {
        call.scope.note("address=%#llx", pointer);
        return release(call, pointer);
      },
      CUDA_ERROR_INVALID_VALUE);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                                                    unsigned int element) {
  return with_context(
      __func__,
      [&](Call& call) {
        call.scope.note("width=%zu height=%zu", width, height);
        if (!pitch || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        if (width > std::numeric_limits<std::size_t>::max() - kPitchUnit ||
            pitch_of(width) > std::numeric_limits<std::size_t>::max() / height) {
          return CUDA_ERROR_OUT_OF_MEMORY;
        }
        const CUresult code = allocate(call, pitch_of(width) * height, pointer);
        if (code == CUDA_SUCCESS) {
          *pitch = pitch_of(width);
        }
        return code;
      },
      CUDA_ERROR_OUT_OF_MEMORY);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetInfo_v2(size_t* free, size_t* total) {
  return with_context(__func__, [&](Call& call) {
    call.driver.pools.collect();
    const int index = call.driver.machine_index(call.context->device);
    const sim::MemoryInfo info = call.driver.machine.memory(index).info();
    if (free) {
      *free = info.free;
    }
    if (total) {
      *total = info.total;
    }
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr pointer) {
  return with_context(__func__, [&](Call& call) {
    const sim::Place place = call.driver.machine.place(pointer);
    const auto range = place.live ? std::nullopt : call.driver.managed.find(pointer);
    if (!place.live && !range) {
      return CUDA_ERROR_NOT_FOUND;
    }
    if (base) {
      *base = range ? range->base : place.allocation.base;
    }
    if (size) {
      *size = range ? range->size : place.allocation.size;
    }
    return CUDA_SUCCESS;
  });
}
