// The loaded object that a walk is in: asked of the loader once for all frames in a row that are in the same.
#pragma once

#include <dlfcn.h>

#include <cstdint>

namespace tidemark::stacks {

struct KnownObject {
  std::uintptr_t begin = 0;  // of its mapping; both 0: none yet
  std::uintptr_t end = 0;
  std::uintptr_t table = 0;    // .eh_frame_hdr
  std::uint64_t identity = 0;  // of this load of it (row_cache.hpp)

  [[nodiscard]] bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

}  // namespace tidemark::stacks
