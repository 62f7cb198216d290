// The order of processes in a table.
#pragma once

#include "viewer/model/view.hpp"

#include <string_view>

namespace tidemark::viewer {

inline constexpr std::string_view kSortKeys = "started, allocated, peak, reserved, cached, held, rank";

// Largest first, by what the largest of a process's devices has; "started" and "rank" lowest first, those without a
// rank last. Equal ones stay as they are. Throws Failure{Usage} for a word that is none of kSortKeys.
void sort_processes(View& view, std::string_view key);

}  // namespace tidemark::viewer
