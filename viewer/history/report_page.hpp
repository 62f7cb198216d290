// The report as one page for a browser: everything in it, and nothing fetched. Pure.
#pragma once

#include "viewer/history/report.hpp"

#include <string>

namespace tidemark::viewer {

// Parts of the time in the page's drawing.
inline constexpr std::size_t kPageParts = 550;

// `text`: the same report for who has no scripts.
[[nodiscard]] std::string report_page(const MemorySnapshot& snapshot, const std::string& text);

}  // namespace tidemark::viewer
