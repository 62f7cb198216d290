#include "viewer/tui/terminal.hpp"

#include "viewer/tui/terminal_rescue.hpp"

#include <fcntl.h>
#include <ncurses.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr int kEscapeDelayMs = 25;  // how long a lone Esc may turn out to be the start of an arrow key

enum Colour : short { kGreen = 1, kYellow, kRed, kCyan, kMagenta };

bool wants_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && has_colors();
}

// Never by colour alone: what matters is bold or reversed as well.
attr_t attributes_of(Style style) {
  switch (style) {
    case Style::Normal:
    case Style::Light:
    case Style::Moderate:
    case Style::Allocated:
    case Style::Reserved:
      return A_NORMAL;
    case Style::Dim:
      return A_DIM;
    case Style::Bold:
    case Style::Title:
    case Style::Heavy:
    case Style::Alarm:
    case Style::Peak:
      return A_BOLD;
    case Style::Header:
      return A_UNDERLINE;
    case Style::Selected:
      return A_REVERSE;
  }
  return A_NORMAL;
}

short colour_of(Style style) {
  switch (style) {
    case Style::Light:
    case Style::Allocated:
      return kGreen;
    case Style::Moderate:
      return kYellow;
    case Style::Heavy:
    case Style::Alarm:
      return kRed;
    case Style::Title:
    case Style::Reserved:
      return kCyan;
    case Style::Peak:
      return kMagenta;
    default:
      return 0;
  }
}

constexpr std::array<std::pair<int, KeyCode>, 15> kCursesKeys{{{KEY_UP, KeyCode::Up},
                                                               {KEY_DOWN, KeyCode::Down},
                                                               {KEY_PPAGE, KeyCode::PageUp},
                                                               {KEY_NPAGE, KeyCode::PageDown},
                                                               {KEY_HOME, KeyCode::Home},
                                                               {KEY_END, KeyCode::End},
                                                               {KEY_ENTER, KeyCode::Enter},
                                                               {KEY_BACKSPACE, KeyCode::Backspace},
                                                               {KEY_F(1), KeyCode::F1},
                                                               {KEY_F(3), KeyCode::F3},
                                                               {KEY_F(4), KeyCode::F4},
                                                               {KEY_F(5), KeyCode::F5},
                                                               {KEY_F(6), KeyCode::F6},
                                                               {KEY_F(10), KeyCode::F10},
                                                               {KEY_RESIZE, KeyCode::Resize}}};

KeyPress read_mouse() {
  MEVENT event{};
  if (getmouse(&event) != OK) {
    return {};
  }
  const KeyCode code = (event.bstate & BUTTON4_PRESSED) != 0   ? KeyCode::WheelUp
                       : (event.bstate & BUTTON5_PRESSED) != 0 ? KeyCode::WheelDown
                       : (event.bstate & BUTTON1_PRESSED) != 0 ? KeyCode::Click
                                                               : KeyCode::None;
  return {code, 0, event.x, event.y};
}

KeyPress read_key() {
  wint_t code = 0;
  const int kind = get_wch(&code);
  if (kind == ERR) {
    return {};
  }
  if (kind == KEY_CODE_YES) {
    if (code == KEY_MOUSE) {
      return read_mouse();
    }
    for (const auto& [curses, key] : kCursesKeys) {
      if (static_cast<int>(code) == curses) {
        return {key, 0};
      }
    }
    return {};
  }
  switch (code) {
    case 27:
      return {KeyCode::Escape, 0};
    case '\r':
    case '\n':
      return {KeyCode::Enter, 0};
    case '\t':
      return {KeyCode::Tab, 0};
    case '\b':
    case 127:
      return {KeyCode::Backspace, 0};
    default:
      return {KeyCode::Character, static_cast<char32_t>(code)};
  }
}

// Does the glyph here, with the half that a wide one has on its right, stand there already?
bool is_same_from(const Canvas& before, const Canvas& now, int column, int row) {
  const bool is_last = column + 1 == now.size().columns;
  return before.at(column, row) == now.at(column, row) &&
         (is_last || (before.at(column + 1, row).glyph == 0) == (now.at(column + 1, row).glyph == 0));
}

}  // namespace

struct Terminal::State {
  SCREEN* screen = nullptr;
  bool colour = false;
  std::array<int, 2> wake_pipe{-1, -1};
  std::optional<Canvas> shown;  // what curses was given last
};

Terminal::Terminal(std::unique_ptr<State> state) : state_(std::move(state)) {}

std::unique_ptr<Terminal> Terminal::open(bool with_mouse) {
  const char* term = std::getenv("TERM");
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1 || term == nullptr || std::strcmp(term, "dumb") == 0) {
    return nullptr;
  }
  auto state = std::make_unique<State>();
  if (pipe2(state->wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return nullptr;
  }
  // Handlers first: curses leaves alone what is already handled.
  rescue::install(state->wake_pipe[1]);
  state->screen = newterm(nullptr, stdout, stdin);
  if (state->screen == nullptr) {
    rescue::uninstall();
    close(state->wake_pipe[0]);
    close(state->wake_pipe[1]);
    return nullptr;
  }
  rescue::arm();
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(kEscapeDelayMs);
  if (with_mouse) {
    mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
    mouseinterval(0);  // a click is not waited for to become a double one
  }
  curs_set(0);  // may fail; then the cursor stays
  state->colour = wants_colour() && start_color() == OK && use_default_colors() == OK;
  if (state->colour) {
    init_pair(kGreen, COLOR_GREEN, -1);
    init_pair(kYellow, COLOR_YELLOW, -1);
    init_pair(kRed, COLOR_RED, -1);
    init_pair(kCyan, COLOR_CYAN, -1);
    init_pair(kMagenta, COLOR_MAGENTA, -1);
  }
  return std::unique_ptr<Terminal>{new Terminal(std::move(state))};
}

Terminal::~Terminal() {
  endwin();
  rescue::uninstall();
  delscreen(state_->screen);
  close(state_->wake_pipe[0]);
  close(state_->wake_pipe[1]);
}

Size Terminal::size() const { return {getmaxx(stdscr), getmaxy(stdscr)}; }

void Terminal::show(const Canvas& canvas) {
  const Size size = canvas.size();
  // Of most screens most is the same, and each cell costs curses as much as drawing it cost us.
  const Canvas* const before = state_->shown && state_->shown->size() == size ? &*state_->shown : nullptr;
  for (int row = 0; row < size.rows; ++row) {
    for (int column = 0; column < size.columns; ++column) {
      const Cell& cell = canvas.at(column, row);
      if (cell.glyph == 0) {
        continue;  // the wide character on the left covers it
      }
      if (before != nullptr && is_same_from(*before, canvas, column, row)) {
        continue;
      }
      const std::array<wchar_t, 2> text{static_cast<wchar_t>(cell.glyph), L'\0'};
      cchar_t character{};
      setcchar(&character, text.data(), attributes_of(cell.style), state_->colour ? colour_of(cell.style) : short{0},
               nullptr);
      mvadd_wch(row, column, &character);  // ERR in the last cell, where the cursor cannot advance; it is drawn
    }
  }
  refresh();
  state_->shown = canvas;
}

void Terminal::forget_screen() {
  state_->shown.reset();
  clearok(curscr, TRUE);
}

KeyPress Terminal::wait(std::chrono::milliseconds timeout) {
  if (const KeyPress key = read_key(); key.code != KeyCode::None) {
    return key;
  }
  std::array<pollfd, 2> files{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                               {.fd = state_->wake_pipe[0], .events = POLLIN, .revents = 0}}};
  // A signal ends the poll: curses then delivers a new size, rescue has written down the end.
  if (poll(files.data(), files.size(), static_cast<int>(timeout.count())) > 0) {
    std::array<char, 64> dropped;
    while (read(state_->wake_pipe[0], dropped.data(), dropped.size()) > 0) {
    }
    if ((files[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
      rescue::note_hangup();
      return {};
    }
  }
  if (rescue::take_resumed()) {
    winsize window{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && is_term_resized(window.ws_row, window.ws_col)) {
      resizeterm(window.ws_row, window.ws_col);
    }
    return {KeyCode::Resize, 0};
  }
  return read_key();
}

void Terminal::wake() {
  const char byte = 0;
  [[maybe_unused]] const auto written = write(state_->wake_pipe[1], &byte, 1);  // full: it will wake anyway
}

int Terminal::ending_signal() const { return rescue::ending_signal(); }

}  // namespace tidemark::viewer
