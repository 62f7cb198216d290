// What our dlsym does: nothing for almost everybody. The exported symbol is an assembler stub (dlsym_door_<arch>.S)
// that asks route_dlsym where to go and jumps there with the arguments and the return address of the caller: glibc
// resolves RTLD_NEXT and RTLD_DEFAULT relative to the object of the *return address*, so a call from here would change
// the answer.
#include <dlfcn.h>

#include <cstring>

#include "shim/hook/hooked_symbol.hpp"
#include "shim/hook/own_object.hpp"
#include "shim/hook/real_dlsym.hpp"

namespace tidemark::hook {

const HookedSymbol* find_hooked_symbol(const char* name) noexcept {
  if (name == nullptr) {
    return nullptr;
  }
  std::size_t low = 0;
  std::size_t high = hooked_symbols.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const int order = std::strcmp(name, hooked_symbols[middle].name);
    if (order == 0) {
      return &hooked_symbols[middle];
    }
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return nullptr;
}

namespace {

// Builtins for the reason given in real_dlsym.cpp.
constinit std::uint64_t calls = 0;

// For an explicit handle and a name of ours: the library's own answer first, then perhaps ours in its place.
void* answer_dlsym(void* handle, const char* name) noexcept {
  void* real = real_dlsym()(handle, name);
  const HookedSymbol* symbol = find_hooked_symbol(name);
  if (real == nullptr || symbol == nullptr) {
    return real;
  }
  void* answer = symbol->answer(symbol->index, real);
  symbol->uses->note(is_inside_our_object(answer) ? SymbolUses::kSwapped : SymbolUses::kMissed);
  return answer;
}

}  // namespace

std::uint64_t dlsym_calls() noexcept { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }

}  // namespace tidemark::hook

// NULL is RTLD_DEFAULT. For both special handles nothing is lost: our exports come first in the global scope.
extern "C" __attribute__((visibility("hidden"))) void* tidemark_route_dlsym(void* handle, const char* name) noexcept {
  using namespace tidemark::hook;
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  const bool special = handle == RTLD_NEXT || handle == RTLD_DEFAULT;
  const bool ours = !special && find_hooked_symbol(name) != nullptr;
  return reinterpret_cast<void*>(ours ? &answer_dlsym : real_dlsym());
}
