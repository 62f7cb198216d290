// The table of `top`: as many columns as the width has room for, the most telling first. Pure.
#pragma once

#include "viewer/tui/dashboard.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

struct TableWindow {
  int top = 0;   // the title line
  int rows = 0;  // below it
};

void draw_process_table(Canvas& canvas, const std::vector<Row>& rows, const DashboardState& state, TableWindow window);

// Puts whole items, two blanks apart, as many as fit between `column` and the right edge: no number is ever cut.
void put_items(Canvas& canvas, int column, int row, const std::vector<std::string>& items, Style style = Style::Normal);

// Light below 10 %, heavy from 80 % on.
[[nodiscard]] Style load_style(std::uint64_t part, std::uint64_t whole);

}  // namespace tidemark::viewer
