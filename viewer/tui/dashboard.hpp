// The live screen as a pure function from what there is, what the user has chosen, and the size, to a grid of cells.
#pragma once

#include "viewer/tui/canvas.hpp"
#include "viewer/tui/history.hpp"
#include "viewer/tui/page.hpp"
#include "viewer/tui/sample.hpp"
#include "viewer/tui/ui_state.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace tidemark::viewer {

// How many table rows a screen of this size shows.
[[nodiscard]] std::size_t visible_rows(const View& view, Size size);

// The page that hides the table; nothing: the table is seen.
[[nodiscard]] std::optional<Page> page_on_top(const Sample& sample, const UiState& state, Size size);

// `history` is the selected row's.
[[nodiscard]] Canvas draw_dashboard(const Sample& sample, std::span<const HistoryPoint> history, const UiState& state,
                                    Size size);

}  // namespace tidemark::viewer
