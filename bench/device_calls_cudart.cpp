// The calls of a program on the CUDA runtime.
#include <cuda_runtime_api.h>

#include "bench/device_calls.hpp"

namespace tidemark::bench {

const char* const kLibrary = "cudart";
bool prepare() { return cudaSetDevice(0) == cudaSuccess; }

void* take(std::size_t size) {
  void* block = nullptr;
  return cudaMalloc(&block, size) == cudaSuccess ? block : nullptr;
}

void give(void* block) { cudaFree(block); }

}  // namespace tidemark::bench
