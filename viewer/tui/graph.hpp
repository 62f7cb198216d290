// A row's allocated, reserved and peak over time: the newest at the right, the axes labelled. Pure.
#pragma once

#include "viewer/tui/canvas.hpp"
#include "viewer/tui/history.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidemark::viewer {

// What the terminal's font has: 2x4 dots in a character, half blocks, or neither.
enum class GraphGlyphs { Braille, Blocks, Ascii };

// For a terminal of that TERM; the Linux console's font has no Braille.
[[nodiscard]] GraphGlyphs graph_glyphs(Charset charset, const char* term);

struct GraphPlace {
  int top = 0;
  int rows = 0;  // a legend, the plot, the axis of time; fewer than 5: nothing is drawn
};

struct GraphTime {
  std::uint64_t now_ns = 0;               // CLOCK_MONOTONIC: the right edge
  std::chrono::milliseconds a_dot{1000};  // how much of time one step to the left is
};

void draw_graph(Canvas& canvas, std::span<const HistoryPoint> points, const GraphTime& time, GraphGlyphs glyphs,
                GraphPlace place);

// For each of `dots` steps of time, the last one ending now, the most there was in it; nothing where nobody looked.
[[nodiscard]] std::vector<std::optional<HistoryPoint>> in_steps(std::span<const HistoryPoint> points,
                                                                const GraphTime& time, int dots);

// The smallest of eight to a doubling that is at least `most`: what the axis ends with.
[[nodiscard]] std::uint64_t axis_end(std::uint64_t most);

}  // namespace tidemark::viewer
