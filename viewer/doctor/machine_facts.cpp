#include "viewer/doctor/machine_facts.hpp"

#include "viewer/doctor/segment_place.hpp"
#include "viewer/exit_code.hpp"
#include "viewer/launch/mapped_file.hpp"
#include "viewer/launch/places.hpp"
#include "viewer/messages.hpp"

#include "shared/segment/names.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

namespace tidemark::viewer {
namespace fs = std::filesystem;
namespace {

// Everything that a child writes to `fd` until it ends.
std::string read_all(int fd) {
  std::string text;
  std::array<char, 512> part;
  for (ssize_t got = 0; (got = read(fd, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// A failed preload is one line of the loader's and nothing else: "ERROR: ld.so: object '...' from LD_PRELOAD cannot be
// preloaded (reason): ignored."
std::string try_to_preload(const std::string& library) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = "tidemark";
  std::string argument = "--version";
  std::string preload = "LD_PRELOAD=" + library;
  const std::array<char*, 3> words{program.data(), argument.data(), nullptr};
  const std::array<char*, 2> environment{preload.data(), nullptr};
  pid_t child = -1;
  const bool is_started =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environment.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string said = is_started ? read_all(ends[0]) : std::string{};
  close(ends[0]);
  if (is_started) {
    waitpid(child, nullptr, 0);
  }
  if (const std::size_t reason = said.find("cannot be preloaded"); reason != std::string::npos) {
    said = said.substr(reason, said.find('\n', reason) - reason);
  }
  return said.substr(0, said.find('\n'));
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// LD_LIBRARY_PATH, the loader's cache (whose entries are names and paths, each with its NUL), its own directories.
std::string find_driver() {
  const char* given = std::getenv("LD_LIBRARY_PATH");
  std::string_view list = given == nullptr ? "" : given;
  std::error_code error;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(":;"), list.size());
    const fs::path candidate = fs::path{list.substr(0, end)} / "libcuda.so.1";
    if (end > 0 && fs::exists(candidate, error)) {
      return candidate.string();
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  const MappedFile cache("/etc/ld.so.cache");
  const std::size_t name = cache.bytes().find("/libcuda.so.1");
  if (name != std::string_view::npos) {
    const std::size_t begin = cache.bytes().rfind('\0', name) + 1;
    std::string path{cache.bytes().substr(begin, cache.bytes().find('\0', name) - begin)};
    if (fs::exists(path, error)) {
      return path;
    }
  }
  for (const char* directory :
       {"/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"}) {
    const fs::path candidate = fs::path{directory} / "libcuda.so.1";
    if (fs::exists(candidate, error)) {
      return candidate.string();
    }
  }
  return {};
}

bool has_device_node() {
  std::error_code error;
  for (fs::directory_iterator entry{"/dev", error}, end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    constexpr std::string_view kNode = "nvidia";
    if (name.starts_with(kNode) && name.size() > kNode.size() && name[kNode.size()] >= '0' &&
        name[kNode.size()] <= '9') {
      return true;
    }
  }
  return false;
}

}  // namespace

void read_installation(MachineFacts& facts) {
  try {
    facts.library = loadable_path(find_library(executable_directory())).string();
    facts.loader_error = try_to_preload(facts.library);
  } catch (const Failure& failure) {
    facts.library_error = failure.what();
  }
  facts.directory = segment::configured_directory();
  facts.directory_trouble = trouble_in(facts.directory, "/", geteuid());
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    facts.file_size_limit = limit.rlim_cur;
  }
}

MachineFacts read_machine_facts(const View& view, std::span<const fs::path> directories) {
  MachineFacts facts;
  read_installation(facts);
  facts.nvidia_driver = first_line("/proc/driver/nvidia/version");
  facts.has_device_node = has_device_node();
  facts.cuda_driver = find_driver();
  facts.no_nvml = view.node.no_nvml;
  if (facts.no_nvml.empty()) {
    facts.nvml_devices = view.node.devices.size();
  }
  try {
    facts.simulator = find_simulator(executable_directory()).string();
  } catch (const Failure&) {
    facts.simulator.clear();
  }
  for (const ProcessView& process : view.processes) {
    ++(process.is_alive() ? facts.published : facts.dead);
  }
  facts.hidden = view.hidden.size();
  for (const SkippedSegment& skipped : view.skipped) {
    ++(skipped.wrong_layout ? facts.incompatible : facts.damaged);
  }
  facts.unpublished = find_unpublished(view, directories);
  return facts;
}

}  // namespace tidemark::viewer
