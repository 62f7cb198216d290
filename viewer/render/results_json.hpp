// The document of the commands that act with --json. Pure.
#pragma once

#include "viewer/model/act.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

// One line with its newline.
[[nodiscard]] std::string results_json(const std::vector<DeviceOutcome>& outcomes);

}  // namespace tidemark::viewer
