// The table of `top`: as many columns as the width has room for, the most telling first. Pure.
#pragma once

#include "viewer/tui/canvas.hpp"
#include "viewer/tui/rows.hpp"
#include "viewer/tui/ui_state.hpp"

#include <cstdint>
#include <vector>

namespace tidemark::viewer {

struct TableWindow {
  int top = 0;   // the title line
  int rows = 0;  // below it
};

void draw_process_table(Canvas& canvas, const std::vector<Row>& rows, const UiState& state, TableWindow window,
                        std::uint64_t now_ns);

// Light below 10 %, heavy from 80 % on.
[[nodiscard]] Style load_style(std::uint64_t part, std::uint64_t whole);

}  // namespace tidemark::viewer
