// Which row is selected and which part of a long table is seen. Pure.
#pragma once

#include "viewer/tui/sample.hpp"
#include "viewer/tui/ui_state.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// Moves the selection by `by` rows (clamped) from where it is now; a selected row that went away is replaced by its
// neighbour. Keeps it inside the window of `window` rows.
void move_selection(UiState& state, const std::vector<Row>& rows, std::ptrdiff_t by, std::size_t window);

// To the row at `index`, or the last.
void select_row(UiState& state, const std::vector<Row>& rows, std::size_t index, std::size_t window);

enum class Direction { Forward, Backward };

// The next row that matches, from `from` on in this direction and round the end; nothing if none does.
[[nodiscard]] std::optional<std::size_t> find_row(const std::vector<Row>& rows, std::string_view text, std::size_t from,
                                                  Direction direction);

// The rows that an acting key is for: the one whose details are seen; the tagged ones that are still there; the
// selected one.
[[nodiscard]] std::vector<RowKey> chosen_rows(const UiState& state, const View& view);

// Forgets tags of rows that went away.
void drop_lost_tags(UiState& state, const View& view);

}  // namespace tidemark::viewer
