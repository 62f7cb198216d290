// The door of shim/hook in a library of its own, compiled without optimisation, for the gate that looks at its machine
// code. Hooks nothing.
#include <dlfcn.h>

#include "shim/hook/hooked_symbol.hpp"

namespace tidemark::hook {
constinit const std::span<const HookedSymbol> hooked_symbols{};
}

// What the door must not be: a look-up for RTLD_NEXT would start here and not at the caller. Shows that the gate can
// fail.
extern "C" __attribute__((visibility("default"), noinline)) void* door_that_returns(void* handle, const char* name) {
  void* found = dlsym(handle, name);
  return found;
}
