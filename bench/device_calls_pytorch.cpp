// PyTorch's algorithm over the null runtime: for the driver calls and the memory it needs for a trace, never for time.
#include <cuda_runtime_api.h>

#include "bench/device_calls.hpp"
#include "bench/pytorch_algorithm.hpp"

namespace tidemark::bench {
namespace {

void* driver_allocate(std::size_t size) {
  void* segment = nullptr;
  return cudaMalloc(&segment, size) == cudaSuccess ? segment : nullptr;
}

void driver_release(void* segment) { cudaFree(segment); }

PytorchAlgorithm& allocator() {
  static auto* const made = new PytorchAlgorithm({.allocate = driver_allocate, .release = driver_release});
  return *made;
}

}  // namespace

const char* const kLibrary = "PyTorch's algorithm";
bool prepare() { return cudaSetDevice(0) == cudaSuccess; }
void* take(std::size_t size) { return allocator().allocate(size); }
void give(void* block) { allocator().release(block); }

}  // namespace tidemark::bench
