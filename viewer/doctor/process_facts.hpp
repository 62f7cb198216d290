// What the kernel tells of a process, as far as it decides whether the process is tracked.
#pragma once

#include "viewer/model/process_environment.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tidemark::viewer {

// One part of LD_PRELOAD.
struct Preload {
  std::string path;
  bool is_ours = false;
  bool exists = true;          // where the process looks: its root directory may be another
  bool has_our_names = false;  // it has functions of the names that we stand in front of
};

struct ProcessFacts {
  std::uint64_t pid = 0;
  std::uint64_t own_pid = 0;  // as it knows itself
  bool exists = false;
  bool is_zombie = false;
  bool is_readable = false;  // its maps, environment and program can be looked at
  std::uint64_t uid = 0;
  bool is_viewer_root = false;
  std::string executable;  // path, as its own root directory has it
  Environment environment;
  std::vector<Preload> preloads;
  std::string library;               // libtidemark.so as it is loaded; empty: it isn't
  bool is_library_replaced = false;  // the file is not the one that is loaded any more
  std::vector<std::string> drivers;  // libcuda, libcudart and libmtia as they are loaded
  bool is_secure = false;            // AT_SECURE: the loader ignores LD_PRELOAD
  bool is_static = false;
  bool is_other_machine = false;
  bool has_other_root = false;  // another mount namespace, as in a container
  std::string directory;        // where its segment goes
  std::string directory_trouble;
};

[[nodiscard]] ProcessFacts read_process_facts(std::uint64_t pid, const std::filesystem::path& proc = "/proc");

// The parts of LD_PRELOAD, between blanks and colons.
[[nodiscard]] std::vector<std::string> preload_parts(std::string_view list);

// Does this file name a function that we stand in front of? Another interposer does, jemalloc doesn't.
[[nodiscard]] bool has_our_names(const std::string& path);

}  // namespace tidemark::viewer
