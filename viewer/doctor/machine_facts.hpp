// What decides on this machine whether programs can be tracked.
#pragma once

#include "viewer/model/unpublished.hpp"
#include "viewer/model/view.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark::viewer {

struct MachineFacts {
  std::string library;        // its path; empty: not found
  std::string library_error;  // why it isn't found
  std::string loader_error;   // what the loader said when it was to preload it into this very program
  std::string directory;      // where segments of programs that are started from here go
  std::string directory_trouble;
  std::optional<std::uint64_t> file_size_limit;  // ulimit -f, if there is one
  std::string nvidia_driver;                     // first line of /proc/driver/nvidia/version; empty: not loaded
  bool has_device_node = false;                  // /dev/nvidia0 or any other
  std::string cuda_driver;                       // libcuda.so.1 as the loader would find it
  std::optional<std::size_t> nvml_devices;       // none: NVML doesn't answer
  std::string no_nvml;                           // why
  std::string simulator;                         // directory; empty: not installed
  std::size_t published = 0;                     // processes with counters
  Unpublished unpublished;
  std::size_t dead = 0;     // segments that ended processes left
  std::size_t hidden = 0;   // other users'
  std::size_t damaged = 0;  // files of a segment's name that are none
  std::size_t incompatible = 0;
};

// Starts this program once more, with the library preloaded, to see what the loader says. Requires: the node was looked
// at for `view`.
[[nodiscard]] MachineFacts read_machine_facts(const View& view, std::span<const std::filesystem::path> directories);

// Where the library would be, and whether it loads; and whether a segment can be made. A part of the above.
void read_installation(MachineFacts& facts);

}  // namespace tidemark::viewer
