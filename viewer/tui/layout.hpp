// Which rows of the screen belong to what, from its height alone: the screen doesn't jump when processes come and go.
#pragma once

#include "viewer/tui/canvas.hpp"

#include <cstddef>

namespace tidemark::viewer {

inline constexpr Size kSmallestScreen{37, 6};

struct Layout {
  int device_top = 1;
  int device_lines = 0;
  int table_top = 0;   // the title line of the table
  int table_rows = 0;  // below it
  int detail_top = 0;
  int detail_rows = 0;
  int graph_top = 0;
  int graph_rows = 0;
  int footer = 0;
};

// Requires: not smaller than kSmallestScreen.
[[nodiscard]] Layout layout_of(std::size_t devices, Size size);

// Where a page that takes the whole screen has its lines.
inline constexpr int kPageTop = 1;
[[nodiscard]] constexpr int page_rows(Size size) { return size.rows - kPageTop - 1; }

}  // namespace tidemark::viewer
