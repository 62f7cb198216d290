// Where the preload library and the simulated drivers lie, found from where `tidemark` itself lies.
// Throws Failure{CannotLaunch} where something is missing.
#pragma once

#include <filesystem>
#include <string>

namespace tidemark::viewer {

// The directory of the running executable.
[[nodiscard]] std::filesystem::path executable_directory();

// ../lib/libtidemark.so in a build tree, ../lib/tidemark/libtidemark.so installed. Absolute, links resolved.
[[nodiscard]] std::filesystem::path find_library(const std::filesystem::path& bin);

// ../simulator in a build tree, ../lib/tidemark/simulator installed.
[[nodiscard]] std::filesystem::path find_simulator(const std::filesystem::path& bin);

// `target` itself if the loader can read its path from a list, else the path of a link to it in a private directory of
// this user under XDG_RUNTIME_DIR or /tmp. The link stays: the program, and what it starts, may load through it later.
[[nodiscard]] std::filesystem::path loadable_path(const std::filesystem::path& target);

// The same with the directory given; `base` must exist. For tests.
[[nodiscard]] std::filesystem::path link_in(const std::filesystem::path& base, const std::filesystem::path& target);

}  // namespace tidemark::viewer
