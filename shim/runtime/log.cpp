#include "shim/runtime/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace tidemark::runtime {
namespace {

constinit std::atomic<LogLevel> limit{LogLevel::Warn};
constinit std::atomic<const char*> log_file{nullptr};

// Opened for each line: a descriptor kept open would be one that the program may close and use for something else.
void write_line(const char* line, std::size_t length) noexcept {
  const char* path = log_file.load(std::memory_order_relaxed);
  const int file = path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  while (length > 0) {
    const ssize_t written = write(file < 0 ? STDERR_FILENO : file, line, length);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      break;
    }
    line += written;
    length -= static_cast<std::size_t>(written);
  }
  if (file >= 0) {
    close(file);
  }
}

}  // namespace

void set_log(LogLevel level, const char* file) noexcept {
  limit.store(level, std::memory_order_relaxed);
  log_file.store(file, std::memory_order_relaxed);
}

void log_line(LogLevel level, const char* format, ...) noexcept {
  if (level > limit.load(std::memory_order_relaxed)) {
    return;
  }
  const int outer_errno = errno;
  char line[412];
  constexpr int kPrefix = 10;
  std::snprintf(line, sizeof line, "tidemark: ");
  va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(line + kPrefix, sizeof line - kPrefix - 1, format, arguments);
  va_end(arguments);
  const auto length = static_cast<std::size_t>(std::clamp(wanted, 0, static_cast<int>(sizeof line) - kPrefix - 2));
  line[kPrefix + length] = '\n';
  write_line(line, kPrefix + length + 1);
  errno = outer_errno;
}

}  // namespace tidemark::runtime
