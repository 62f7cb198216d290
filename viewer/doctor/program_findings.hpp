// Whether a program can be tracked, before it starts.
#pragma once

#include "viewer/doctor/finding.hpp"
#include "viewer/model/process_environment.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

// `words` is the program as typed, with its arguments; `environment` what it would be started with.
[[nodiscard]] Findings findings_of_program(const std::vector<std::string>& words, const Environment& environment);

}  // namespace tidemark::viewer
