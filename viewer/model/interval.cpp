#include "viewer/model/interval.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace tidemark::viewer {
namespace {

using Clock = std::chrono::steady_clock;

// How often it is looked whether the process still lives.
constexpr std::chrono::milliseconds kLookInterval{200};

// Ctrl-C and its like as something to wait for, as long as this lives.
class Interrupt {
 public:
  Interrupt() {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&interrupt, signal);
    }
    sigprocmask(SIG_BLOCK, &interrupt, &before_);
    fd_ = signalfd(-1, &interrupt, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt() {
    signalfd_siginfo taken{};
    while (fd_ >= 0 && read(fd_, &taken, sizeof taken) > 0) {
    }
    close(fd_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  [[nodiscard]] int fd() const { return fd_; }

 private:
  sigset_t before_{};
  int fd_ = -1;
};

// Byte by byte: what follows the line is not ours. True at a newline, the end, or an error.
bool takes_line_end() {
  char c = 0;
  const ssize_t got = read(STDIN_FILENO, &c, 1);
  return got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN) || (got == 1 && c == '\n');
}

// Ctrl-C and Ctrl-\ are for the program alone while it runs; what was ignored before stays so for it.
class TerminalSignals {
 public:
  TerminalSignals() {
    sigemptyset(&for_program_);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction ignore {};
      ignore.sa_handler = SIG_IGN;
      sigaction(kSignals[i], &ignore, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) {
        sigaddset(&for_program_, kSignals[i]);
      }
    }
  }
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;
  ~TerminalSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }

  [[nodiscard]] const sigset_t& for_program() const { return for_program_; }

 private:
  static constexpr std::array kSignals{SIGINT, SIGQUIT};
  std::array<struct sigaction, kSignals.size()> before_{};
  sigset_t for_program_{};
};

}  // namespace

bool wait_for_end(const segment::SegmentReader& watched, std::optional<std::chrono::milliseconds> length) {
  const Interrupt interrupt;
  const auto end = Clock::now() + length.value_or(std::chrono::milliseconds{0});
  while (watched.is_owner_alive()) {
    auto wait = kLookInterval;
    if (length) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) {
        return true;
      }
      wait = std::min(wait, left);
    }
    // With a length stdin is somebody else's.
    std::array<pollfd, 2> files{pollfd{interrupt.fd(), POLLIN, 0}, pollfd{length ? -1 : STDIN_FILENO, POLLIN, 0}};
    if (poll(files.data(), files.size(), static_cast<int>(wait.count())) <= 0) {
      continue;
    }
    if (files[0].revents != 0) {
      return false;
    }
    if (files[1].revents != 0 && takes_line_end()) {
      return true;
    }
  }
  return false;
}

int run_program(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));  // exec's type; it changes nothing
  }
  argv.push_back(nullptr);
  const TerminalSignals signals;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &signals.for_program());
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw Failure(error == ENOENT ? ExitCode::NoSuchProgram : ExitCode::NotExecutable,
                  fmt::format("{}: {}", words.front(), std::strerror(error)));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace tidemark::viewer
