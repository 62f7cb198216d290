#include "shim/runtime/log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace tidemark::runtime {
namespace {

constinit std::atomic<LogLevel> limit{LogLevel::Warn};
constinit std::atomic<const char*> log_file{nullptr};

// A reader that is gone, a full pipe or a file-size limit must not end or stop the program because of a line of ours:
// the signals are kept from this thread while it writes, and a line that would have to wait is not written.
class SignalsAway {
 public:
  SignalsAway() noexcept {
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGPIPE);
    sigaddset(&ours_, SIGXFSZ);
    sigset_t pending;
    was_pending_ =
        sigpending(&pending) == 0 && (sigismember(&pending, SIGPIPE) == 1 || sigismember(&pending, SIGXFSZ) == 1);
    pthread_sigmask(SIG_BLOCK, &ours_, &outer_);
  }
  ~SignalsAway() {
    const timespec now{};
    if (!was_pending_) {
      while (sigtimedwait(&ours_, nullptr, &now) > 0) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &outer_, nullptr);
  }
  SignalsAway(const SignalsAway&) = delete;
  SignalsAway& operator=(const SignalsAway&) = delete;

 private:
  sigset_t ours_{};
  sigset_t outer_{};
  bool was_pending_ = false;
};

// Opened for each line: a descriptor kept open would be one that the program may close and use for something else.
void write_line(const char* line, std::size_t length) noexcept {
  const SignalsAway away;
  const char* path = log_file.load(std::memory_order_relaxed);
  const int file =
      path == nullptr
          ? -1
          : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  pollfd target{.fd = path == nullptr ? STDERR_FILENO : file, .events = POLLOUT, .revents = 0};
  // A pipe that is ready takes a line of ours whole (it is shorter than PIPE_BUF), so one write never waits.
  if (target.fd >= 0 && poll(&target, 1, 0) == 1 && (target.revents & POLLOUT) != 0) {
    (void)!write(target.fd, line, length);
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
