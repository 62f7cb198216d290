#include "shim/runtime/log.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "shim/runtime/own_line.hpp"

namespace tidemark::runtime {
namespace {

constinit std::atomic<LogLevel> limit{LogLevel::Warn};
constinit std::atomic<const char*> log_file{nullptr};

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
  static_cast<void>(write_own(log_file.load(std::memory_order_relaxed), {line, kPrefix + length + 1}));
  errno = outer_errno;
}

}  // namespace tidemark::runtime
