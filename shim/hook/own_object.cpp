#include "shim/hook/own_object.hpp"

#include <cstdint>

// The linker defines both for each object; hidden, so these are ours and not the program's.
extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));
extern "C" const char _end[] __attribute__((visibility("hidden")));

namespace tidemark::hook {

bool is_inside_our_object(const void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  return wanted >= reinterpret_cast<std::uintptr_t>(&__ehdr_start) && wanted < reinterpret_cast<std::uintptr_t>(&_end);
}

const void* address_in_our_object() noexcept { return &__ehdr_start; }

}  // namespace tidemark::hook
