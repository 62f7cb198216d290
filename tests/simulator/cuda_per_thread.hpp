// Calls made by a file that was compiled for per-thread default streams.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cuda_test {

cudaError_t memset_on_own_default_stream(void* block, int value, std::size_t size);
cudaError_t query_own_default_stream();

}  // namespace cuda_test
