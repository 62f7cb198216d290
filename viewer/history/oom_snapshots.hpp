// What a process saved by itself when memory ran out (TIDEMARK_SNAPSHOT_ON_OOM), as far as it is still there.
#pragma once

#include <string>
#include <vector>

#include "viewer/model/view.hpp"

namespace tidemark::viewer {

// Paths, by name. A file of that name is one only if it says that it is of this process.
[[nodiscard]] std::vector<std::string> snapshots_on_oom(const ProcessView& process);

}  // namespace tidemark::viewer
