// What the user has made of the screen: everything that drawing needs besides the sample. Values only.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/tui/graph.hpp"
#include "viewer/tui/rows.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tidemark::viewer {

// What is being typed in the footer.
struct Prompt {
  enum class Kind { Filter, Search };

  Kind kind = Kind::Filter;
  std::u32string text;
  std::string before;  // the filter that Esc brings back
  RowKey origin;       // where a search began
};

// What the user can have done to programs.
enum class Deed { ResetPeak, EmptyCache };

// Asked before a program is touched.
struct Question {
  Deed deed = Deed::ResetPeak;
  std::vector<RowKey> rows;
  std::string whose;  // in words
};

struct UiState {
  RowKey selected;
  std::size_t selected_row = 0;  // where it was last: its neighbour takes over when it goes away
  std::size_t first_row = 0;     // of the table's window
  RowChoice choice;
  std::string search;     // last searched for
  std::set<RowKey> tags;  // acting keys act on these, if there are any

  // Pages over the table, from the lowest to the one on top.
  bool devices = false;
  std::optional<RowKey> detail;
  bool help = false;
  std::size_t scroll = 0;  // of the page on top

  std::optional<Prompt> prompt;
  std::optional<Question> question;
  std::string message;  // the effect of the last key; empty: the keys are shown
  bool message_is_error = false;

  bool paused = false;
  std::chrono::milliseconds interval{1000};
  bool readonly = false;
  Charset charset = Charset::Utf8;
  GraphGlyphs graph = GraphGlyphs::Braille;
};

}  // namespace tidemark::viewer
