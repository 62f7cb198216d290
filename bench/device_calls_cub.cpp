// CUB's CachingDeviceAllocator, as its users call it: the current device, the default stream. Bins double from 512 B to
// 32 MiB and nothing limits what is cached, which suits the workloads best (its own defaults cache 6 MiB).
#include <cuda_runtime_api.h>

#include <cub/util_allocator.cuh>

#include "bench/device_calls.hpp"

namespace tidemark::bench {
namespace {

// Never destroyed: it would free through a driver that has ended.
cub::CachingDeviceAllocator& allocator() {
  static auto* const made = new cub::CachingDeviceAllocator(2, 9, 25, cub::CachingDeviceAllocator::INVALID_SIZE, true);
  return *made;
}
cub::CachingDeviceAllocator& the_allocator = allocator();

}  // namespace

const char* const kLibrary = "CUB's CachingDeviceAllocator";

bool prepare() { return cudaSetDevice(0) == cudaSuccess; }

void* take(std::size_t size) {
  void* block = nullptr;
  return the_allocator.DeviceAllocate(&block, size) == cudaSuccess ? block : nullptr;
}

void give(void* block) { the_allocator.DeviceFree(block); }

}  // namespace tidemark::bench
