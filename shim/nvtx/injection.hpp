// Puts functions of ours where a program's NVTX looks for a tool's.
#pragma once

#include <span>

#include "shim/nvtx/nvtx_abi.hpp"

namespace tidemark::nvtx {

struct Follower {
  unsigned place;
  Function function;
};

// False: that is no NVTX of version 3; nothing was changed.
[[nodiscard]] bool follow(ExportTable export_table, std::span<const Follower> core,
                          std::span<const Follower> core2) noexcept;

}  // namespace tidemark::nvtx
