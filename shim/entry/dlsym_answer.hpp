// dlsym asked for dlsym.
#pragma once

#include <cstddef>

namespace tidemark::entry {

// Ours where `real` is glibc's: who calls it later must come through our door as well.
void* answer_dlsym_itself(std::size_t index, void* real) noexcept;

}  // namespace tidemark::entry
