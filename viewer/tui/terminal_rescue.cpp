#include "viewer/tui/terminal_rescue.hpp"

#include <curses.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

namespace tidemark::viewer::rescue {
namespace {

constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

volatile std::sig_atomic_t ending = 0;
volatile std::sig_atomic_t resumed = 0;
volatile std::sig_atomic_t armed = 0;
int wake = -1;
termios before{};
std::array<char, 256> leave_text{};  // what makes the terminal normal again
std::size_t leave_length = 0;
std::array<struct sigaction, kEnding.size()> ending_before{};
std::array<struct sigaction, kCrashes.size()> crashes_before{};
struct sigaction continue_before {};

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

// Puts the terminal back and lets the signal do what it would have done.
void on_crash(int number) {
  if (armed != 0) {
    armed = 0;
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, leave_text.data(), leave_length);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    if (kCrashes[i] == number) {
      sigaction(number, &crashes_before[i], nullptr);
    }
  }
  raise(number);  // pending until this handler returns
}

void append(const char* capability) {
  const char* text = tigetstr(capability);
  if (text == nullptr || text == reinterpret_cast<const char*>(-1)) {
    return;
  }
  const std::size_t length = std::strlen(text);
  if (leave_length + length <= leave_text.size()) {
    std::memcpy(leave_text.data() + leave_length, text, length);
    leave_length += length;
  }
}

void handle(int number, void (*handler)(int), int flags, struct sigaction* previous) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, previous);
}

}  // namespace

void install(int wake_fd) {
  wake = wake_fd;
  ending = 0;
  resumed = 0;
  tcgetattr(STDIN_FILENO, &before);
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    handle(kEnding[i], on_ending, 0, &ending_before[i]);
  }
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    handle(kCrashes[i], on_crash, 0, &crashes_before[i]);
  }
  handle(SIGCONT, on_continue, SA_RESTART, &continue_before);
}

void arm() {
  leave_length = 0;
  for (const char* capability : {"sgr0", "cnorm", "rmkx", "rmcup"}) {
    append(capability);
  }
  armed = 1;
}

void uninstall() {
  armed = 0;
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    sigaction(kEnding[i], &ending_before[i], nullptr);
  }
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    sigaction(kCrashes[i], &crashes_before[i], nullptr);
  }
  sigaction(SIGCONT, &continue_before, nullptr);
}

int ending_signal() { return ending; }

void note_hangup() { ending = SIGHUP; }

bool take_resumed() {
  const bool was = resumed != 0;
  resumed = 0;
  return was;
}

}  // namespace tidemark::viewer::rescue
