#include "shim/hook/symbol_lookup.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "shim/hook/own_object.hpp"
#include "shim/hook/real_dlsym.hpp"

namespace tidemark::hook {
namespace {

const char* file_name(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool starts_with(const char* text, const char* prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// A handle on an object that is loaded already; never loads. Closing it again only undoes the count.
void* find_symbol_in(const char* path, const char* name) noexcept {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return nullptr;
  }
  void* address = real_dlsym()(handle, name);
  dlclose(handle);
  return address;
}

const void* base_of(const void* address) noexcept {
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool is_acceptable(const void* found, const void* caller_base) noexcept {
  return found != nullptr && !is_inside_our_object(found) && (caller_base == nullptr || base_of(found) != caller_base);
}

// Paths of the loaded libraries that may have it. Collected first and opened afterwards: dl_iterate_phdr holds a lock
// of the loader that dlopen takes second, so opening inside the callback can deadlock with another thread's dlopen.
struct LibraryPaths {
  static constexpr int kMost =
      8;  // several CUDA runtimes in one process are known (interposers, section 2.2), never eight
  const char* prefix;
  int count = 0;
  char paths[kMost][512];
};

int collect_library(dl_phdr_info* info, std::size_t, void* data) {
  auto& libraries = *static_cast<LibraryPaths*>(data);
  const char* path = info->dlpi_name;
  if (path != nullptr && starts_with(file_name(path), libraries.prefix) &&
      std::strlen(path) < sizeof(libraries.paths[0]) && libraries.count < LibraryPaths::kMost) {
    std::strcpy(libraries.paths[libraries.count++], path);  // NOLINT: the length was checked
  }
  return 0;
}

void* search_loaded_libraries(const LookUp& wanted, const void* caller_base) noexcept {
  LibraryPaths libraries;
  libraries.prefix = wanted.library_prefix;
  dl_iterate_phdr(&collect_library, &libraries);
  for (int i = 0; i < libraries.count; ++i) {
    void* found = find_symbol_in(libraries.paths[i], wanted.name);
    if (is_acceptable(found, caller_base)) {
      return found;
    }
  }
  return nullptr;
}

void* search_all(const LookUp& wanted) noexcept {
  const void* caller_base = base_of(wanted.caller);
  Dl_info caller{};
  if (wanted.caller != nullptr && dladdr(wanted.caller, &caller) != 0 && caller.dli_fname != nullptr) {
    void* found = find_symbol_in(caller.dli_fname, wanted.name);
    if (is_acceptable(found, caller_base)) {
      return found;
    }
  }
  void* next = real_dlsym()(RTLD_NEXT, wanted.name);
  if (is_acceptable(next, caller_base)) {
    return next;
  }
  return search_loaded_libraries(wanted, caller_base);
}

}  // namespace

void* find_real_function(const LookUp& wanted) noexcept {
  void* found = search_all(wanted);
  dlerror();  // a program may ask dlerror() after its own successful dlsym; our misses are not its errors
  return found;
}

void* find_beside(const void* known, const char* name) noexcept {
  Dl_info info{};
  if (known == nullptr || dladdr(known, &info) == 0 || info.dli_fname == nullptr) {
    return nullptr;
  }
  void* found = find_symbol_in(info.dli_fname, name);
  dlerror();
  return is_acceptable(found, nullptr) ? found : nullptr;
}

bool are_in_one_object(const void* a, const void* b) noexcept {
  return a == nullptr || b == nullptr || base_of(a) == base_of(b);
}

void keep_loaded(const void* address) noexcept {
  Dl_info info{};
  if (address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    dlerror();
  }
}

bool is_in_library(const void* address, const char* prefix) noexcept {
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr &&
         starts_with(file_name(info.dli_fname), prefix);
}

}  // namespace tidemark::hook
