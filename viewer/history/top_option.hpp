// --top N: how much of a long list is told.
#pragma once

#include "viewer/arguments.hpp"

#include <cstddef>
#include <string_view>

namespace tidemark::viewer {

inline constexpr std::size_t kDefaultTop = 10;

// The most there may be for 0. Throws Failure{Usage}.
[[nodiscard]] std::size_t top_option(const Arguments& arguments, std::string_view command);

}  // namespace tidemark::viewer
