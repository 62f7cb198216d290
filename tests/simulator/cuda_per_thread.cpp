#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "tests/simulator/cuda_per_thread.hpp"

namespace cuda_test {

cudaError_t memset_on_own_default_stream(void* block, int value, std::size_t size) {
  return cudaMemsetAsync(block, value, size, nullptr);
}

cudaError_t query_own_default_stream() { return cudaStreamQuery(nullptr); }

}  // namespace cuda_test
