// Segments inside containers, as root sees them: through /proc/PID/root of a process that has another mount namespace.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tidemark::segment {

// The same `directories` in every other mount namespace, as /proc/PID/root/...; one process stands for its namespace,
// the oldest as far as pids tell. A directory that is one of ours there, too (/dev/shm of most services), isn't named
// again. Processes `left_out` publish where we look already. Empty for all but root. A container could put links in
// our way: a path with one is not followed.
[[nodiscard]] std::vector<std::string> directories_in_containers(std::span<const std::string> directories,
                                                                 const std::set<std::int64_t>& left_out);

}  // namespace tidemark::segment
