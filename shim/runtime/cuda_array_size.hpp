// How much memory an array takes, as far as its shape says: opaque layouts pad, so it is an estimate from below.
#pragma once

#include <cstdint>

#include "shim/backend/cuda_symbols.hpp"

namespace tidemark::runtime {

// Bytes over all levels (1 for a plain array); 0 for an array without memory of its own (sparse, or to be mapped
// later).
[[nodiscard]] std::uint64_t size_of_array(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) noexcept;

}  // namespace tidemark::runtime
