#include "viewer/launch/supervise.hpp"

#include "viewer/file_limit.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace tidemark::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLookInterval{1};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// What this process does about signals while the program runs; the program gets what was before.
class Signals {
 public:
  Signals() {
    sigemptyset(&awaited_);
    for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}) {
      sigaddset(&awaited_, signal);
    }
    sigprocmask(SIG_BLOCK, &awaited_, &mask_before_);
    for (std::size_t i = 0; i < kChanged.size(); ++i) {
      struct sigaction ours {};
      // With SIGCHLD ignored, as some parents leave it, nobody would tell us how the program ended.
      ours.sa_handler = kChanged[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
      sigaction(kChanged[i], &ours, &before_[i]);
    }
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { put_back(); }

  void put_back() const {
    for (std::size_t i = 0; i < kChanged.size(); ++i) {
      sigaction(kChanged[i], &before_[i], nullptr);
    }
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  // The next signal for us, at the latest after the interval; 0: none.
  [[nodiscard]] int wait() const {
    const timespec interval{kLookInterval.count(), 0};
    const int signal = sigtimedwait(&awaited_, nullptr, &interval);
    return signal > 0 ? signal : 0;
  }

 private:
  static constexpr std::array kChanged{SIGINT, SIGQUIT, SIGCHLD};
  std::array<struct sigaction, kChanged.size()> before_{};
  sigset_t awaited_{};
  sigset_t mask_before_{};
};

// Both ends close in the program by themselves.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      fail("run: pipe");
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) {
      close(ends[end]);
      ends[end] = -1;
    }
  }

  std::array<int, 2> ends{-1, -1};
};

// Why the program could not be started; 0: it runs.
int read_error(const Pipe& pipe) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(pipe.ends[0], &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == ssize_t{sizeof error} ? error : 0;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      fail("run: waitpid");
    }
  }
  return status;
}

pid_t start_child(const ProgramStart& start, const Signals& signals) {
  Pipe pipe;
  const pid_t pid = fork();
  if (pid < 0) {
    fail("run: fork");
  }
  if (pid == 0) {
    signals.put_back();
    const int error = become_program(start);
    const bool is_told = write(pipe.ends[1], &error, sizeof error) == ssize_t{sizeof error};
    _exit(is_told ? 0 : static_cast<int>(ExitCode::CannotLaunch));
  }
  pipe.close_end(1);
  if (const int error = read_error(pipe); error != 0) {
    wait_for(pid);
    throw failure_to_start(start, error);
  }
  return pid;
}

}  // namespace

ProgramEnd supervise(const ProgramStart& start, const std::function<void()>& look) {
  const Signals signals;
  const pid_t pid = start_child(start, signals);
  allow_many_files();
  auto next_look = Clock::now() + kLookInterval;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) {
      break;
    }
    if (ended < 0 && errno != EINTR) {
      fail("run: waitpid");
    }
    if (const int signal = signals.wait(); signal != 0 && signal != SIGCHLD) {
      kill(pid, signal);
    }
    if (Clock::now() >= next_look) {
      look();
      next_look = Clock::now() + kLookInterval;
    }
  }
  return WIFSIGNALED(status) ? ProgramEnd{.signal = WTERMSIG(status)} : ProgramEnd{.exit_code = WEXITSTATUS(status)};
}

void die_by(int signal) {
  std::fflush(nullptr);
  const rlimit none{};  // the program has left its own
  setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);  // as a shell would say it
}

}  // namespace tidemark::viewer
