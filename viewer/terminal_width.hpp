// How wide stdout is.
#pragma once

#include <cstddef>

namespace tidemark::viewer {

// Columns of the terminal on stdout; 0 where stdout is none: a file or a pipe gets everything.
[[nodiscard]] std::size_t terminal_width();

}  // namespace tidemark::viewer
