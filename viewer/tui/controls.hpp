// What keys do to the screen, and what they ask of the world beyond it. Pure: no terminal, no program is touched here.
#pragma once

#include "viewer/tui/canvas.hpp"
#include "viewer/tui/key_table.hpp"
#include "viewer/tui/sample.hpp"
#include "viewer/tui/ui_state.hpp"

#include <vector>

namespace tidemark::viewer {

struct Errand {
  enum class Kind { None, Leave, Redraw, MarkPeak, ResetPeak, EmptyCache };

  Kind kind = Kind::None;
  std::vector<RowKey> rows{};  // whose peaks or caches
};

[[nodiscard]] Errand take_key(UiState& state, const Sample& sample, const KeyPress& press, Size size);

// Keeps the selection, the window and the tags right when there is another sample, or the screen has another size.
void take_sample(UiState& state, const Sample& sample, Size size);

}  // namespace tidemark::viewer
