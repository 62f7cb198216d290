// Looks at the machine: reads every segment there is into a View.
#pragma once

#include "viewer/model/view.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace tidemark::viewer {

// Reads all segments of these directories, and memfd ones. A process that goes away meanwhile is no error.
[[nodiscard]] View collect(std::span<const std::filesystem::path> directories);

// Removes what dead processes of this user left more than a day ago, and all but the newest 32.
void sweep(std::span<const std::filesystem::path> directories);

// One more look at a process. Requires: `process.reader`.
[[nodiscard]] ProcessView look_again(const ProcessView& process);

// Does process `pid` have libtidemark.so mapped? False where that cannot be read.
[[nodiscard]] bool has_library(const std::string& pid);

// Living processes of this user with the library but without a segment: they have not allocated anything yet. Reads
// /proc/*/maps, so it costs more than collect().
[[nodiscard]] std::size_t count_waiting(const View& view);

}  // namespace tidemark::viewer
