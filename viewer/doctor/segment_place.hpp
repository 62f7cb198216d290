// Can a segment be made in a directory? As far as that shows from outside.
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace tidemark::viewer {

// A clause ("does not exist", "is full: 12 KiB left"), empty where nothing is wrong. `root` is the root directory of
// the process that `user` runs: "/" or /proc/PID/root.
[[nodiscard]] std::string trouble_in(const std::string& directory, const std::filesystem::path& root, uid_t user);

}  // namespace tidemark::viewer
