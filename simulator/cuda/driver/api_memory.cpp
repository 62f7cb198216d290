// Device memory. A free waits for the device's work, as CUDA's does for memory that is not stream-ordered.
#include "simulator/cuda/driver/internal_api.hpp"

#include <limits>

using namespace cuda_sim;

namespace {

constexpr std::size_t kPitchUnit = 512;

CUresult allocate(Call& call, std::size_t size, CUdeviceptr* out) {
  if (!out || size == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
    return code;
  }
  call.driver.gate.delay_alloc();
  call.driver.pools.collect();
  sim::Address address = 0;
  sim::Status status = call.driver.machine.allocate(call.context->core, size, address);
  if (status == sim::Status::OutOfMemory) {
    call.driver.pools.drain();
    status = call.driver.machine.allocate(call.context->core, size, address);
  }
  if (status != sim::Status::Ok) {
    return status == sim::Status::InvalidHandle ? CUDA_ERROR_CONTEXT_IS_DESTROYED : to_code(status);
  }
  call.scope.note("address=%#llx", static_cast<unsigned long long>(address));
  *out = address;
  return CUDA_SUCCESS;
}

// The allocation is found by its address, so any context or none may be current.
CUresult release(Call& call, CUdeviceptr pointer) {
  if (pointer == 0) {
    return CUDA_SUCCESS;
  }
  sim::Machine& machine = call.driver.machine;
  const sim::Place place = machine.place(pointer);
  if (!place.live || place.allocation.base != pointer || place.allocation.foreign ||
      call.driver.pools.is_being_freed(pointer)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
    return code;
  }
  call.driver.gate.delay_free();
  if (call.driver.pools.owns(pointer)) {
    call.driver.pools.forget(pointer);  // documented not to wait
    return to_code(machine.release(pointer));
  }
  machine.synchronize_device(place.device);
  if (Context* owner = call.driver.contexts.owner_of(place.allocation.owner)) {
    const sim::Status health = call.scheduler().synchronize_context(place.allocation.owner);
    if (to_code(health, *owner) == CUDA_ERROR_ILLEGAL_ADDRESS) {
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
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
    if (!place.live) {
      return CUDA_ERROR_NOT_FOUND;
    }
    if (base) {
      *base = place.allocation.base;
    }
    if (size) {
      *size = place.allocation.size;
    }
    return CUDA_SUCCESS;
  });
}
