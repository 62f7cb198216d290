// The keys of `top`: one table for handling, the footer and the help screen.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace tidemark::viewer {

// What the terminal delivers.
enum class KeyCode {
  None,
  Character,
  Up,
  Down,
  PageUp,
  PageDown,
  Home,
  End,
  Enter,
  Escape,
  Tab,
  Backspace,
  F1,
  F3,
  F4,
  F5,
  F6,
  F10,
  Resize,
  Click,
  WheelUp,
  WheelDown,
};

struct KeyPress {
  KeyCode code = KeyCode::None;
  char32_t character = 0;  // of KeyCode::Character
  int column = 0;          // of the three of the mouse
  int row = 0;

  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

enum class KeyAction {
  Quit,
  Help,
  Details,
  Devices,
  Filter,
  Search,
  NextMatch,
  PreviousMatch,
  SortNext,
  SortPrevious,
  Invert,
  Tree,
  Tag,
  Untag,
  ResetPeak,
  MarkPeak,
  EmptyCache,
  Pause,
  Faster,
  Slower,
  Up,
  Down,
  PageUp,
  PageDown,
  First,
  Last,
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

// Does it change a program, or what others see of it? Not with --readonly.
inline constexpr bool acts(KeyAction action) {
  return action == KeyAction::ResetPeak || action == KeyAction::EmptyCache;
}

inline constexpr KeyPress character(char32_t c) { return {KeyCode::Character, c}; }
inline constexpr KeyPress named(KeyCode code) { return {code, 0}; }

// In the order of the footer, from which the last ones drop out where it is narrow.
inline constexpr std::array kKeyBindings{
    KeyBinding{KeyAction::Quit, {character(U'q'), named(KeyCode::F10)}, "q", "quit", "leave (also F10, Ctrl-C)"},
    KeyBinding{
        KeyAction::Help, {character(U'?'), character(U'h'), named(KeyCode::F1)}, "?", "help", "this page (h, F1)"},
    KeyBinding{KeyAction::Details, {named(KeyCode::Enter)}, "Enter", "details", "everything about the row"},
    KeyBinding{KeyAction::Devices,
               {named(KeyCode::Tab), character(U'd')},
               "Tab",
               "devices",
               "what is in each device, and back (d)"},
    KeyBinding{KeyAction::ResetPeak,
               {character(U'r')},
               "r",
               "reset",
               "peaks := in use now, as 'tidemark reset-peak'; of several rows: asks before"},
    KeyBinding{
        KeyAction::MarkPeak, {character(U'm')}, "m", "my peak", "a peak of my own, from now on; disturbs nobody"},
    KeyBinding{KeyAction::EmptyCache, {character(U'e')}, "e", "empty", "give cached memory back; asks before"},
    KeyBinding{KeyAction::SortNext,
               {character(U'>'), named(KeyCode::F6)},
               ">",
               "sort",
               "sort by the next column (F6); behind the last: as they began"},
    KeyBinding{KeyAction::Filter,
               {character(U'f'), character(U'\\'), named(KeyCode::F4)},
               "f",
               "filter",
               "show only rows with a text in them (\\, F4)"},
    KeyBinding{KeyAction::Search,
               {character(U'/'), named(KeyCode::F3)},
               "/",
               "search",
               "select the next row with a text in it (F3)"},
    KeyBinding{KeyAction::Pause, {character(U'z')}, "z", "pause", "hold the screen still, and go on"},
    KeyBinding{
        KeyAction::Tag, {character(U' ')}, "Space", "tag", "tag the row: r, m and e are then for all that are tagged"},
    KeyBinding{KeyAction::Tree, {character(U't')}, "t", "tree", "children behind their parents"},
    KeyBinding{KeyAction::Faster, {character(U'+'), character(U'=')}, "+", "", "look more often"},
    KeyBinding{KeyAction::Slower, {character(U'-'), character(U'_')}, "-", "", "look less often"},
    KeyBinding{KeyAction::SortPrevious, {character(U'<')}, "<", "", "sort by the column before"},
    KeyBinding{KeyAction::Invert, {character(U'I')}, "I", "", "sort the other way round"},
    KeyBinding{KeyAction::NextMatch, {character(U'n')}, "n", "", "the next row that was searched for"},
    KeyBinding{KeyAction::PreviousMatch, {character(U'N')}, "N", "", "the one before"},
    KeyBinding{KeyAction::Untag, {character(U'U')}, "U", "", "take all tags away"},
    KeyBinding{KeyAction::Up, {named(KeyCode::Up), character(U'k')}, "Up k", "", "the row above"},
    KeyBinding{KeyAction::Down, {named(KeyCode::Down), character(U'j')}, "Down j", "", "the row below"},
    KeyBinding{KeyAction::PageUp, {named(KeyCode::PageUp)}, "PgUp", "", "a page up"},
    KeyBinding{KeyAction::PageDown, {named(KeyCode::PageDown)}, "PgDn", "", "a page down"},
    KeyBinding{KeyAction::First, {named(KeyCode::Home), character(U'g')}, "Home g", "", "the first row"},
    KeyBinding{KeyAction::Last, {named(KeyCode::End), character(U'G')}, "End G", "", "the last row"},
    KeyBinding{KeyAction::Redraw, {named(KeyCode::F5), character(12)}, "F5 ^L", "", "draw the screen anew"},
    KeyBinding{KeyAction::Close, {named(KeyCode::Escape)}, "Esc", "", "close what is on top; then the filter"},
};

[[nodiscard]] constexpr std::optional<KeyAction> action_of(const KeyPress& press) {
  if (press.code == KeyCode::None) {
    return std::nullopt;
  }
  for (const KeyBinding& binding : kKeyBindings) {
    for (const KeyPress& candidate : binding.keys) {
      if (candidate == press) {
        return binding.action;
      }
    }
  }
  return std::nullopt;
}

}  // namespace tidemark::viewer
