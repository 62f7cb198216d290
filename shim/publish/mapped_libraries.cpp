#include "shim/publish/mapped_libraries.hpp"

#include <link.h>

#include <array>
#include <cstring>

namespace tidemark::publish {
namespace {

constexpr std::array kCollectiveLibraries = {"libnccl", "libmpi", "libucp", "libucs"};

int visit(dl_phdr_info* info, std::size_t, void* data) noexcept {
  if (info->dlpi_name == nullptr) {
    return 0;
  }
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* file = slash == nullptr ? info->dlpi_name : slash + 1;
  for (const char* name : kCollectiveLibraries) {
    if (std::strncmp(file, name, std::strlen(name)) == 0) {
      *static_cast<const char**>(data) = name;
      return 1;
    }
  }
  return 0;
}

}  // namespace

const char* find_collective_library() noexcept {
  const char* found = nullptr;
  dl_iterate_phdr(&visit, &found);
  return found;
}

}  // namespace tidemark::publish
