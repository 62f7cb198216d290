// The paragraph of `show` on what of the program is seen. Pure.
#pragma once

#include "shared/segment/coverage.hpp"

#include <string>

namespace tidemark::viewer {

// Lines, each indented and with its newline.
[[nodiscard]] std::string coverage_text(const segment::CoverageList& coverage);

}  // namespace tidemark::viewer
