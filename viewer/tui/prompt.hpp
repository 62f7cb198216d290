// Typing in the footer: a filter or a search, with its effect at each character. Pure.
#pragma once

#include "viewer/tui/key_table.hpp"
#include "viewer/tui/sample.hpp"
#include "viewer/tui/selection.hpp"
#include "viewer/tui/ui_state.hpp"

#include <cstddef>

namespace tidemark::viewer {

void open_prompt(UiState& state, Prompt::Kind kind);

// Enter keeps what it did, Esc takes it back. Requires: a prompt is open. `window`: how many rows are seen.
void type_in_prompt(UiState& state, const Sample& sample, const KeyPress& press, std::size_t window);

// Selects the next row with what was last searched for.
void find_next(UiState& state, const Sample& sample, Direction direction, std::size_t window);

}  // namespace tidemark::viewer
