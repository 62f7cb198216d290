// The life of `top`: keys, samples and the screen.
#pragma once

#include "viewer/exit_code.hpp"
#include "viewer/tui/sampler.hpp"
#include "viewer/tui/terminal.hpp"

#include <chrono>

namespace tidemark::viewer {

struct LoopOptions {
  std::chrono::milliseconds interval{1000};
  bool readonly = false;
  Charset charset = Charset::Ascii;
};

// Until the user leaves, or a signal does: its number, 0 otherwise.
[[nodiscard]] int run_loop(Terminal& terminal, const Sampler::Look& look, const LoopOptions& options);

}  // namespace tidemark::viewer
