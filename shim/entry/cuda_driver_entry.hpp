// Answers to look-ups of the CUDA driver's functions.
#pragma once

#include <cstddef>

namespace tidemark::entry {

// For hook::HookedSymbol: `index` counts TIDEMARK_CUDA_DRIVER_HOOKS. Ours where `real` is the driver's, `real`
// otherwise.
void* answer_cuda_driver(std::size_t index, void* real) noexcept;

// By address: what cuGetProcAddress answered. Which symbol that is depends on the version and flags asked for, so the
// name alone says nothing ("cuMemAlloc" is the 32-bit function at 2000 and cuMemAlloc_v2 from 3020 on).
void* answer_cuda_resolver(void* real) noexcept;

}  // namespace tidemark::entry
