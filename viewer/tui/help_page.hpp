// What the keys do and what the columns mean. Pure.
#pragma once

#include "viewer/tui/page.hpp"

namespace tidemark::viewer {

[[nodiscard]] Page help_page(int width);

}  // namespace tidemark::viewer
