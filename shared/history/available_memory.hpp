// How much more memory this process could use before the kernel ends somebody: a file in /dev/shm is memory.
#pragma once

#include <cstdint>

namespace tidemark::history {

// The machine's, or what is left of the container's limit if that is less; UINT64_MAX: not known.
[[nodiscard]] std::uint64_t available_memory() noexcept;

}  // namespace tidemark::history
