// Reads JSON into values, stacks that occur again and again once.
#pragma once

#include "viewer/history/value.hpp"

#include <string_view>

namespace tidemark::viewer {

// Throws BadDocument.
[[nodiscard]] Value read_json(std::string_view bytes);

}  // namespace tidemark::viewer
