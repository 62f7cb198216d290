#include "shim/runtime/own_line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace tidemark::runtime {
namespace {

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

}  // namespace

// Opened for each line: a descriptor kept open would be one that the program may close and use for something else.
int write_own(const char* path, std::string_view text) noexcept {
  const SignalsAway away;
  const int file =
      path == nullptr
          ? STDERR_FILENO
          : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  if (file < 0) {
    return errno;
  }
  pollfd target{.fd = file, .events = POLLOUT, .revents = 0};
  int failure = EAGAIN;
  // A pipe that is ready takes a text of ours whole (it is shorter than PIPE_BUF), so one write never waits.
  if (poll(&target, 1, 0) == 1 && (target.revents & POLLOUT) != 0) {
    const ssize_t written = write(file, text.data(), text.size());
    failure = written < 0 ? errno : written == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
  }
  if (path != nullptr) {
    close(file);
  }
  return failure;
}

}  // namespace tidemark::runtime
