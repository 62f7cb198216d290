// Where segments are looked for, and what is wrong with these places.
#pragma once

#include "viewer/messages.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tidemark::viewer {

// TIDEMARK_DIR (or /dev/shm), then `more` (--dir). One of `more` that cannot be looked into is a mistake:
// Failure{Usage}, or {PermissionDenied}. What TIDEMARK_DIR says is meant for programs as well and may be made later: a
// note, and nothing is found there. A relative TIDEMARK_DIR is left out, since programs refuse it.
[[nodiscard]] std::vector<std::filesystem::path> segment_directories(const std::vector<std::string>& more,
                                                                     const Messages& messages);

}  // namespace tidemark::viewer
