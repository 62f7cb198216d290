// The functions that act on a stream, with the legacy default stream for 0.
#include <cstdint>
#include <memory>
#include <utility>

#include "simulator/cuda/driver/copies.hpp"

using namespace cuda_sim;

namespace {
constexpr bool kZeroIsThread = false;
}

#include "simulator/cuda/driver/streamed_functions.inc"
