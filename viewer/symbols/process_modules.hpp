// What a living process has mapped to run, from /proc: for addresses that are in no list of its own yet.
#pragma once

#include <vector>

#include "viewer/symbols/module_map.hpp"

namespace tidemark::viewer {

// Empty: no such process, or it may not be looked at.
[[nodiscard]] std::vector<LoadedModule> process_modules(int pid);

}  // namespace tidemark::viewer
