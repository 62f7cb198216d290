// The keys of `top`: one table for handling, the footer and the help screen.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace tidemark::viewer {

// What the terminal delivers.
enum class KeyCode { None, Character, Up, Down, PageUp, PageDown, Home, End, Enter, Escape, F1, F5, F10, Resize };

struct KeyPress {
  KeyCode code = KeyCode::None;
  char32_t character = 0;  // of KeyCode::Character

  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

enum class KeyAction {
  Quit,
  ResetPeak,
  Up,
  Down,
  PageUp,
  PageDown,
  First,
  Last,
  Faster,
  Slower,
  Help,
  Redraw,
  Close,
};

struct KeyBinding {
  KeyAction action;
  std::array<KeyPress, 3> keys;
  std::string_view name;    // as shown: "r"
  std::string_view footer;  // short, "" = not in the footer
  std::string_view help;
};

inline constexpr KeyPress character(char32_t c) { return {KeyCode::Character, c}; }

inline constexpr std::array kKeyBindings{
    KeyBinding{KeyAction::Quit, {character(U'q'), {KeyCode::F10, 0}}, "q", "quit", "leave (also F10, Ctrl-C)"},
    KeyBinding{KeyAction::ResetPeak,
               {character(U'r')},
               "r",
               "reset peak",
               "reset the peaks of the selected process's device: peak := in use now, as 'tidemark reset-peak'"},
    KeyBinding{KeyAction::Up, {KeyPress{KeyCode::Up, 0}, character(U'k')}, "Up k", "", "select the row above"},
    KeyBinding{KeyAction::Down, {KeyPress{KeyCode::Down, 0}, character(U'j')}, "Down j", "", "select the row below"},
    KeyBinding{KeyAction::PageUp, {KeyPress{KeyCode::PageUp, 0}}, "PgUp", "", "a page up"},
    KeyBinding{KeyAction::PageDown, {KeyPress{KeyCode::PageDown, 0}}, "PgDn", "", "a page down"},
    KeyBinding{KeyAction::First, {KeyPress{KeyCode::Home, 0}, character(U'g')}, "Home g", "", "the first row"},
    KeyBinding{KeyAction::Last, {KeyPress{KeyCode::End, 0}, character(U'G')}, "End G", "", "the last row"},
    KeyBinding{KeyAction::Faster, {character(U'+'), character(U'=')}, "+", "faster", "refresh more often"},
    KeyBinding{KeyAction::Slower, {character(U'-'), character(U'_')}, "-", "slower", "refresh less often"},
    KeyBinding{KeyAction::Redraw, {KeyPress{KeyCode::F5, 0}, character(12)}, "F5 ^L", "", "draw the screen anew"},
    KeyBinding{KeyAction::Help, {character(U'?'), character(U'h'), {KeyCode::F1, 0}}, "?", "help", "this page"},
    KeyBinding{KeyAction::Close, {KeyPress{KeyCode::Escape, 0}}, "Esc", "", "close what is on top"},
};

[[nodiscard]] constexpr std::optional<KeyAction> action_of(const KeyPress& press) {
  if (press.code == KeyCode::None) {
    return std::nullopt;
  }
  for (const KeyBinding& binding : kKeyBindings) {
    for (const KeyPress& key : binding.keys) {
      if (key == press) {
        return binding.action;
      }
    }
  }
  return std::nullopt;
}

}  // namespace tidemark::viewer
