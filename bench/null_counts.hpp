// What the null driver has counted: the program that measures asks for it, whatever stands between the two.
#pragma once

#include <dlfcn.h>

#include <cstdint>

namespace tidemark::bench {

struct NullCounts {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t peak_bytes = 0;
};

// Null where another driver, or none, serves this process.
using ReadNullCounts = NullCounts (*)();
inline ReadNullCounts null_counts() {
  return reinterpret_cast<ReadNullCounts>(dlsym(RTLD_DEFAULT, "tidemark_null_counts"));
}

}  // namespace tidemark::bench
