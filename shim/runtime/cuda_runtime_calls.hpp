// What a CUDA runtime's calls become where that runtime ends in no driver we can hook (DESIGN D1, the runtime layer).
// Each answers the code that the program gets, or nothing. Threads: any; only inside intercept().
#pragma once

#include <cstddef>

#include "shim/backend/cuda_runtimes.hpp"
#include "shim/runtime/answer.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

class CudaRuntimeCalls {
 public:
  CudaRuntimeCalls(Runtime& runtime, backend::CudaRuntime& real) noexcept : runtime_(runtime), real_(real) {}

  Answer<cudaError_t> allocate(void** ptr, std::size_t size) noexcept;

  // Books what the runtime itself just handed out: the allocation by which it was found out that no driver hook runs.
  void adopt(void* ptr, std::size_t size) noexcept;

  Answer<cudaError_t> release(void* ptr) noexcept;
  // In the order of a stream, which the runtime has to know; waits, since it has nothing else for us.
  Answer<cudaError_t> release_later(void* ptr, cudaStream_t stream) noexcept;
  Answer<cudaError_t> memory_info(std::size_t* free, std::size_t* total) noexcept;
  Answer<cudaError_t> export_memory(cudaIpcMemHandle_t* handle, void* ptr) noexcept;
  Answer<cudaError_t> reset_device() noexcept;

 private:
  ServedDevice* current_device(bool makes) noexcept;
  cudaError_t refuse() noexcept;
  [[nodiscard]] bool knows(const void* ptr) noexcept;
  [[nodiscard]] alloc::DeviceCache* owner_of(const void* ptr) noexcept;

  Runtime& runtime_;
  backend::CudaRuntime& real_;
};

}  // namespace tidemark::runtime
