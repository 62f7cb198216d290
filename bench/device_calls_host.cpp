// glibc's malloc beside the devices: host memory, and not what it is built for, but a figure everybody knows.
#include <cstdlib>

#include "bench/device_calls.hpp"

namespace tidemark::bench {

const char* const kLibrary = "malloc";
bool prepare() { return true; }
void* take(std::size_t size) { return std::malloc(size); }
void give(void* block) { std::free(block); }

}  // namespace tidemark::bench
