#include "shared/segment/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "shared/segment/file_handle.hpp"

namespace tidemark::segment {

std::string_view read_start_of(const char* path, std::span<char> buffer) noexcept {
  const FileHandle file{::open(path, O_RDONLY | O_CLOEXEC)};
  std::size_t length = 0;
  while (file && length < buffer.size()) {
    const ssize_t got = ::read(file.get(), buffer.data() + length, buffer.size() - length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    length += static_cast<std::size_t>(got);
  }
  return {buffer.data(), length};
}

}  // namespace tidemark::segment
