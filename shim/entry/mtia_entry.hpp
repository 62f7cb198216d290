// Answers to look-ups of the MTIA driver's functions.
#pragma once

#include <cstddef>

namespace tidemark::entry {

// For hook::HookedSymbol: `index` counts TIDEMARK_MTIA_HOOKS. Ours where `real` is the driver's, `real` otherwise.
void* answer_mtia(std::size_t index, void* real) noexcept;

// The same by name.
void* answer_mtia_look_up(const char* name, void* real) noexcept;

}  // namespace tidemark::entry
