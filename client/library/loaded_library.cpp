#include "client/library/loaded_library.hpp"

#include <dlfcn.h>

namespace tidemark::client {

bool LoadedLibrary::is_loaded() const {
  void* const handle = dlopen(name_, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) {
    dlclose(handle);
  }
  return handle != nullptr;
}

bool LoadedLibrary::load() const { return dlopen(name_, RTLD_LAZY) != nullptr; }

void* LoadedLibrary::address_of(const char* function) const {
  void* const handle = dlopen(name_, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return nullptr;
  }
  void* const address = dlsym(handle, function);
  dlclose(handle);
  return address;
}

}  // namespace tidemark::client
