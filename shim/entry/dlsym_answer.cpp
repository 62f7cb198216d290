#include "shim/entry/dlsym_answer.hpp"

#include "shim/hook/real_dlsym.hpp"

// The assembler door, by its own name: <dlfcn.h>'s declaration has attributes that ours cannot match.
extern "C" __attribute__((visibility("hidden"))) void* tidemark_dlsym_door(void* handle, const char* name);

namespace tidemark::entry {

void* answer_dlsym_itself(std::size_t, void* real) noexcept {
  return real == reinterpret_cast<void*>(hook::real_dlsym()) ? reinterpret_cast<void*>(&tidemark_dlsym_door) : real;
}

}  // namespace tidemark::entry
