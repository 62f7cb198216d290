// The settings of `tidemark env`, quoted as each of its readers unquotes. Pure.
#pragma once

#include "viewer/launch/run_options.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// A file or directory of this machine that the program needs to see under another path.
struct Mount {
  std::string name;  // "library": unique, for a volume
  std::string source;
  std::string target;
  bool is_directory = false;
  bool is_writable = false;
};

// One POSIX shell word: as it is where nothing in it is special, else between single quotes.
[[nodiscard]] std::string shell_word(std::string_view text);

// Lines for `eval`: "export TIDEMARK_LABEL='two words'".
[[nodiscard]] std::string shell_text(const Settings& settings);

// Options of `docker run`, on one line of shell words, so that it can be given to `eval` as well.
[[nodiscard]] std::string docker_text(const Settings& settings, std::span<const Mount> mounts);

// A drop-in for a service.
[[nodiscard]] std::string systemd_text(const Settings& settings);

// What goes into a pod's container, and into the pod.
[[nodiscard]] std::string k8s_text(const Settings& settings, std::span<const Mount> mounts);

}  // namespace tidemark::viewer
