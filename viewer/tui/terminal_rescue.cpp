#include "viewer/tui/terminal_rescue.hpp"

#include <curses.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

namespace tidemark::viewer::rescue {
namespace {

// Noted, so that the loop leaves in good order.
constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
// All others that end a program by default; the real-time ones besides. Crashes can't wait for the loop, and for the
// rest nobody expects more of us than that the terminal is whole.
constexpr std::array kDeadly{SIGSEGV, SIGBUS,  SIGABRT,   SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,  SIGPIPE, SIGALRM,
                             SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGPOLL, SIGPWR,  SIGSTKFLT};

volatile std::sig_atomic_t ending = 0;
volatile std::sig_atomic_t resumed = 0;
enum : int { kDisarmed, kArmed, kRestoring };
std::atomic<int> arms{kDisarmed};
static_assert(std::atomic<int>::is_always_lock_free);
int wake = -1;
termios before{};
std::array<char, 256> leave_text{};  // what makes the terminal normal again
std::size_t leave_length = 0;
std::array<struct sigaction, NSIG> handlers_before{};  // by signal
std::array<bool, NSIG> is_ours{};

void ring() {
  const int error = errno;
  const char byte = 0;
  [[maybe_unused]] const auto written = write(wake, &byte, 1);
  errno = error;
}

void on_ending(int number) {
  ending = number;
  ring();
}

void on_continue(int) {
  resumed = 1;
  ring();
}

void restore() {
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, leave_text.data(), leave_length);
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

// A second crash must not end the program in the middle of the first one's work; nor wait for ever, should it be the
// first one's own.
void wait_until_restored() {
  constexpr timespec kStep{.tv_sec = 0, .tv_nsec = 1'000'000};
  constexpr int kMostSteps = 1000;
  for (int i = 0; i < kMostSteps && arms == kRestoring; ++i) {
    nanosleep(&kStep, nullptr);
  }
}

// Puts the terminal back and lets the signal do what it would have done.
void on_deadly(int number) {
  int was = kArmed;
  if (arms.compare_exchange_strong(was, kRestoring)) {
    restore();
    arms = kDisarmed;
  } else if (was == kRestoring) {
    wait_until_restored();
  }
  sigaction(number, &handlers_before[static_cast<std::size_t>(number)], nullptr);
  raise(number);  // pending until this handler returns
}

const char* capability_of(const char* name) {
  const char* text = tigetstr(name);
  return text == nullptr || text == reinterpret_cast<const char*>(-1) ? nullptr : text;
}

void append(const char* text) {
  if (text == nullptr) {
    return;
  }
  const std::size_t length = std::strlen(text);
  if (leave_length + length <= leave_text.size()) {
    std::memcpy(leave_text.data() + leave_length, text, length);
    leave_length += length;
  }
}

// What whoever started us had ignored (nohup) stays ignored.
void handle(int number, void (*handler)(int), int flags = 0) {
  const auto at = static_cast<std::size_t>(number);
  sigaction(number, nullptr, &handlers_before[at]);
  is_ours[at] = handlers_before[at].sa_handler != SIG_IGN;
  if (is_ours[at]) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace

void install(int wake_fd) {
  wake = wake_fd;
  ending = 0;
  resumed = 0;
  tcgetattr(STDIN_FILENO, &before);
  for (const int number : kEnding) {
    handle(number, on_ending);
  }
  for (const int number : kDeadly) {
    handle(number, on_deadly);
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    handle(number, on_deadly);
  }
  handle(SIGCONT, on_continue, SA_RESTART);
}

void arm() {
  leave_length = 0;
  for (const char* capability : {"sgr0", "cnorm", "rmkx", "rmcup"}) {
    append(capability_of(capability));
  }
  // The mouse off, as curses does it: by the terminal's own word for it, else by xterm's.
  if (capability_of("kmous") != nullptr) {
    const char* mouse = capability_of("XM");
    append(mouse != nullptr ? tiparm(mouse, 0) : "\033[?1000l");
  }
  arms = kArmed;
}

void uninstall() {
  arms = kDisarmed;
  for (std::size_t number = 1; number < is_ours.size(); ++number) {
    if (is_ours[number]) {
      sigaction(static_cast<int>(number), &handlers_before[number], nullptr);
    }
  }
}

int ending_signal() { return ending; }

void note_hangup() { ending = SIGHUP; }

bool take_resumed() {
  const bool was = resumed != 0;
  resumed = 0;
  return was;
}

}  // namespace tidemark::viewer::rescue
