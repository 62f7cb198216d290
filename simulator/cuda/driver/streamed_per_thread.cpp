// From here on cuda.h says cuMemcpyAsync_ptsz for cuMemcpyAsync, and so on.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include <cstdint>
#include <memory>
#include <utility>

#include "simulator/cuda/driver/copies.hpp"

using namespace cuda_sim;

namespace {
constexpr bool kZeroIsThread = true;
}

#include "simulator/cuda/driver/streamed_functions.inc"
