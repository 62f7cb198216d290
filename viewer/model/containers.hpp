// Segments inside containers, as root sees them: through /proc/PID/root of a process that has another mount namespace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// The same `directories` in every other mount namespace, as /proc/PID/root/...; one process stands for its namespace,
// the oldest as far as pids tell. A directory that is one of ours there, too (/dev/shm of most services), isn't named
// again. Processes `left_out` publish where we look already. Empty for all but root. A container could put links in
// our way: a path with one is not followed.
[[nodiscard]] std::vector<std::filesystem::path> directories_in_containers(
    std::span<const std::filesystem::path> directories, const std::set<std::int64_t>& left_out);

// The container that a /proc/PID/cgroup names: 64 hex digits (Docker, containerd, CRI-O, Podman); empty: none.
[[nodiscard]] std::string container_id_in(std::string_view cgroup);

// Of a living process; empty for pid 0.
[[nodiscard]] std::string container_id_of(std::int64_t pid);

}  // namespace tidemark::viewer
