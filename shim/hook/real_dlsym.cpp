#include "shim/hook/real_dlsym.hpp"

#include <dlfcn.h>

#include <initializer_list>

#include "shim/hook/own_object.hpp"

namespace tidemark::hook {
namespace {

// Builtins instead of std::atomic: in a sanitizer build the library's inline functions are instrumented, and this runs
// before the sanitizer has started (this room is built without, see shim/hook/CMakeLists.txt).
constinit DlsymFunction found = nullptr;

void* find_nothing(void*, const char*) noexcept { return nullptr; }

// 2.34: since dlsym moved into libc; 2.17: AArch64's first glibc; 2.2.5: x86-64's, still there for old binaries.
DlsymFunction look_up() noexcept {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    void* address = dlvsym(RTLD_NEXT, "dlsym", version);
    if (address != nullptr && !is_inside_our_object(address)) {
      return reinterpret_cast<DlsymFunction>(address);
    }
  }
  return &find_nothing;
}

}  // namespace

DlsymFunction real_dlsym() noexcept {
  DlsymFunction known = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
  if (known == nullptr) {
    known = look_up();  // idempotent: two threads at once store the same
    __atomic_store_n(&found, known, __ATOMIC_RELEASE);
  }
  return known;
}

}  // namespace tidemark::hook
