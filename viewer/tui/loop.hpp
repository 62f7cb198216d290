// The life of `top`: keys, samples and the screen.
#pragma once

#include "viewer/tui/graph.hpp"
#include "viewer/tui/sample.hpp"
#include "viewer/tui/terminal.hpp"

#include <chrono>
#include <functional>

namespace tidemark::viewer {

// What there is, with a closer look at what the focus says.
using LookAround = std::function<Sample(const Focus&)>;

struct LoopOptions {
  std::chrono::milliseconds interval{1000};
  bool readonly = false;
  Charset charset = Charset::Ascii;
  GraphGlyphs graph = GraphGlyphs::Ascii;
};

// Until the user leaves, or a signal does: its number, 0 otherwise.
[[nodiscard]] int run_loop(Terminal& terminal, const LookAround& look, const LoopOptions& options);

}  // namespace tidemark::viewer
