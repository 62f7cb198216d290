// Walks a directory.
#pragma once

#include <dirent.h>

#include <memory>
#include <string>
#include <string_view>

namespace tidemark::segment {

// Calls `body` with the name of each entry; a directory that is missing or closed to us has none.
template <class Body>
void for_each_entry(const std::string& directory, Body body) {
  struct Close {
    void operator()(DIR* handle) const { ::closedir(handle); }
  };
  const std::unique_ptr<DIR, Close> handle{::opendir(directory.c_str())};
  while (handle != nullptr) {
    const dirent* entry = ::readdir(handle.get());
    if (entry == nullptr) {
      break;
    }
    body(std::string_view{entry->d_name});
  }
}

}  // namespace tidemark::segment
