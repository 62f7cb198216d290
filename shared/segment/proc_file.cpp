#include "shared/segment/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "shared/segment/file_handle.hpp"

namespace tidemark::segment {

namespace {

std::size_t read_some(const FileHandle& file, std::span<char> buffer) noexcept {
  ssize_t got = -1;
  do {
    got = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  } while (got < 0 && errno == EINTR);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

FileHandle open_for_reading(const char* path) noexcept { return FileHandle{::open(path, O_RDONLY | O_CLOEXEC)}; }

}  // namespace

std::string_view read_start_of(const char* path, std::span<char> buffer) noexcept {
  const FileHandle file = open_for_reading(path);
  std::size_t length = 0;
  for (std::size_t more = 1; more != 0 && length < buffer.size(); length += more) {
    more = read_some(file, buffer.subspan(length));
  }
  return {buffer.data(), length};
}

std::string_view read_once(const char* path, std::span<char> buffer) noexcept {
  return {buffer.data(), read_some(open_for_reading(path), buffer)};
}

}  // namespace tidemark::segment
