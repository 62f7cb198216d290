// Answers to look-ups of a CUDA runtime's functions.
#pragma once

#include <cstddef>

namespace tidemark::entry {

// For hook::HookedSymbol: `index` counts TIDEMARK_CUDA_RUNTIME_HOOKS. A function of ours that belongs to the very
// runtime that `real` is from, or `real` itself.
void* answer_cuda_runtime(std::size_t index, void* real) noexcept;

}  // namespace tidemark::entry
