// The environment that a process was started with: what the library in it has most likely read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace tidemark::viewer {

using Environment = std::map<std::string, std::string, std::less<>>;

// `process` is its directory in /proc. Empty where it cannot be read.
[[nodiscard]] Environment environment_of(const std::filesystem::path& process);

// Empty where there is no such variable.
[[nodiscard]] std::string_view value_of(const Environment& environment, std::string_view name);

// Does the list, between commas, hold this name (TIDEMARK_SKIP)?
[[nodiscard]] bool is_in_list(std::string_view list, std::string_view name);

// TIDEMARK_ONLY_PID: is another process meant than the one of this number?
[[nodiscard]] bool is_another_meant(const Environment& environment, std::uint64_t own_pid);

// The number that a process knows itself by: in a container another than ours. `process` as above.
[[nodiscard]] std::uint64_t own_pid_of(const std::filesystem::path& process);

}  // namespace tidemark::viewer
