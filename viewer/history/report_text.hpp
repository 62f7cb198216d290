// A report for people. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "viewer/clean_text.hpp"
#include "viewer/history/report.hpp"

namespace tidemark::viewer {

// Parts of the time in the text's sparkline.
inline constexpr std::size_t kTextParts = 60;

// `most`: stacks of each device that are told one by one. Requires: a report with kTextParts parts.
[[nodiscard]] std::string report_text(const Report& report, Charset charset, std::size_t most);

// "recorded since 14:10:08 (10 min 0 s): all, stacks cpp", "not recorded".
[[nodiscard]] std::string recording_words(const history::Recording& recording, std::uint64_t now_ns);

}  // namespace tidemark::viewer
