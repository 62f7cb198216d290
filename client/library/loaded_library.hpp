// A driver's library, and functions in it by name.
#pragma once

#include <string>

namespace tidemark::client {

class LoadedLibrary {
 public:
  explicit LoadedLibrary(const char* name) : name_(name) {}

  [[nodiscard]] bool is_loaded() const;
  // False: there is none. It stays loaded, as a driver has to.
  [[nodiscard]] bool load() const;

  // Null: not loaded, or no such function. Through dlsym, as any program asks.
  template <class Function>
  [[nodiscard]] Function find(const char* function) const {
    return reinterpret_cast<Function>(address_of(function));
  }

  [[nodiscard]] const char* name() const { return name_; }

 private:
  [[nodiscard]] void* address_of(const char* function) const;

  const char* name_;
};

}  // namespace tidemark::client
