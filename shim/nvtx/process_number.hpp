// Which process this is: a number that a forked child doesn't share with its parent, for what the child inherits and
// must not take for its own. One load (MADV_WIPEONFORK, as shim/runtime/fork_word.hpp).
#pragma once

#include <cstdint>

namespace tidemark::nvtx {

// From 1. Where the kernel can't tell a child from its parent it is always 1; then nothing of ours runs in either.
[[nodiscard]] std::uint32_t process_number() noexcept;

}  // namespace tidemark::nvtx
