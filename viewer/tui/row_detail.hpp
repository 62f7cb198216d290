// The lower part of `top`: the selected row's numbers as bars against what the device has, and what moved. Pure.
#pragma once

#include "viewer/tui/canvas.hpp"
#include "viewer/tui/sample.hpp"

#include <cstdint>

namespace tidemark::viewer {

inline constexpr int kDetailRows = 6;

// `mark` may be null.
void draw_row_detail(Canvas& canvas, const Row& row, const MarkedPeak* mark, std::uint64_t now_ns, int top);

}  // namespace tidemark::viewer
