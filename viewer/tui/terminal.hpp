// The terminal: raw keys in, a canvas out. The only place that touches curses and the terminal's state.
//
// One at a time in a process; one thread, but for wake(). The terminal is put back as it was on every way out: the
// destructor, signals that end a program (which wait() reports first), and crashes.
#pragma once

#include "viewer/tui/canvas.hpp"
#include "viewer/tui/key_table.hpp"

#include <chrono>
#include <memory>

namespace tidemark::viewer {

class Terminal {
 public:
  // nullptr: no terminal on stdin and stdout, or TERM names none that curses knows.
  // `with_mouse`: clicks and the wheel are keys, and no text can be marked with it.
  [[nodiscard]] static std::unique_ptr<Terminal> open(bool with_mouse);

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  [[nodiscard]] Size size() const;
  void show(const Canvas& canvas);
  // The next show() draws every cell: somebody else wrote on the screen.
  void forget_screen();

  // The next key; None after `timeout`, after wake(), or when a signal came.
  [[nodiscard]] KeyPress wait(std::chrono::milliseconds timeout);
  // Ends a wait() under way or to come; any thread.
  void wake();

  // SIGINT, SIGTERM, SIGHUP or SIGQUIT that came since open(); 0: none. The caller leaves and then dies by it.
  [[nodiscard]] int ending_signal() const;

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tidemark::viewer
