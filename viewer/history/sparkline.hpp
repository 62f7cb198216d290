// A row of numbers as a row of characters. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "viewer/clean_text.hpp"

namespace tidemark::viewer {

// One column each; the largest is full height, and only 0 is empty.
[[nodiscard]] std::string sparkline(std::span<const std::uint64_t> values, Charset charset);

}  // namespace tidemark::viewer
