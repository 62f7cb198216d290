// The document behind the live page: devices and their last minutes, processes, and groups with their ranks. Pure.
#pragma once

#include "viewer/export/books.hpp"
#include "viewer/export/known_devices.hpp"
#include "viewer/export/timeline.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

// One line. Sizes in bytes, null for unknown, under the names of `ps --json` where it has them.
[[nodiscard]] std::string live_json(const Books& books, const std::vector<KnownDevice>& devices,
                                    const Timeline& timeline);

}  // namespace tidemark::viewer
