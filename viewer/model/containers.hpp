// Which container a process is in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// The container that a /proc/PID/cgroup names: 64 hex digits (Docker, containerd, CRI-O, Podman); empty: none.
[[nodiscard]] std::string container_id_in(std::string_view cgroup);

// Of a living process; empty for pid 0.
[[nodiscard]] std::string container_id_of(std::int64_t pid);

}  // namespace tidemark::viewer
