// A report for scripts, and for the page, which draws from the same document. Pure.
#pragma once

#include <string>

#include "viewer/history/report.hpp"

namespace tidemark::viewer {

// One line without its newline. Integers in bytes, null for unknown, times in seconds since the Unix epoch.
[[nodiscard]] std::string report_json(const Report& report);

// The same with `map`: each segment with its blocks, for the page.
[[nodiscard]] std::string report_json_with_map(const Report& report, const MemorySnapshot& snapshot);

}  // namespace tidemark::viewer
