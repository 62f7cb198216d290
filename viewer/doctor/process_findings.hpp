// Why a process is tracked, or isn't. Pure.
#pragma once

#include "viewer/doctor/finding.hpp"
#include "viewer/doctor/process_facts.hpp"
#include "viewer/model/view.hpp"

#include <filesystem>
#include <span>

namespace tidemark::viewer {

// The code of the one finding about a process that this user may not look into.
inline constexpr std::string_view kUnreadable = "unreadable";

// Is the library in the process, which drivers are, and why is there no segment, where there is none?
// `has_segment`: one that is alive was found. `directories`: where it was looked for.
[[nodiscard]] Findings findings_of_process(const ProcessFacts& facts, bool has_segment,
                                           std::span<const std::filesystem::path> directories);

// What the process itself says. `obstacle`: why it cannot be asked, or empty. `drivers`: see ProcessFacts.
[[nodiscard]] Findings findings_of_segment(const ProcessView& process, std::string_view obstacle,
                                           std::span<const std::string> drivers);

}  // namespace tidemark::viewer
