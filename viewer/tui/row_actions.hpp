// Has processes do what the keys ask for, row by row; says what came of it in one line. Sampler's thread: it waits.
#pragma once

#include "viewer/tui/controls.hpp"
#include "viewer/tui/marks.hpp"
#include "viewer/tui/sampler.hpp"

#include <vector>

namespace tidemark::viewer {

// Requires: an errand that acts on rows.
[[nodiscard]] Sampler::Effect run_errand(const View& view, const Errand& errand, Marks& marks);

}  // namespace tidemark::viewer
