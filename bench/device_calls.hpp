// The two calls that the benchmarks time, one implementation a library: what a program itself would call, so that the
// shim is reached, or not, as it is by any program.
#pragma once

#include <cstddef>

namespace tidemark::bench {

// The library's name, for messages.
extern const char* const kLibrary;

// In each thread before its first take(): whatever the library wants to be told first. False: no device.
bool prepare();
void* take(std::size_t size);  // null: nothing left
void give(void* block);

}  // namespace tidemark::bench
