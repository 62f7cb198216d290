// The calls of a program on the MTIA driver.
#include <mtia.h>

#include "bench/device_calls.hpp"

namespace tidemark::bench {

const char* const kLibrary = "mtia";
bool prepare() { return mtiaInit(0) == MTIA_SUCCESS && mtiaSetDevice(0) == MTIA_SUCCESS; }

void* take(std::size_t size) {
  void* block = nullptr;
  return mtiaMalloc(&block, size) == MTIA_SUCCESS ? block : nullptr;
}

void give(void* block) { mtiaFree(block); }

}  // namespace tidemark::bench
