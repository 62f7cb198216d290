#include "viewer/model/unpublished.hpp"

#include "viewer/model/process_environment.hpp"

#include "shared/segment/names.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace tidemark::viewer {
namespace fs = std::filesystem;
namespace {

bool is_own_process(const fs::path& process) {
  struct stat found {};
  return stat(process.c_str(), &found) == 0 && (geteuid() == 0 || found.st_uid == geteuid());
}

bool has_library(const fs::path& process) {
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/libtidemark.so")) {
      return true;
    }
  }
  return false;
}

bool is_silent(const Environment& environment, const fs::path& process) {
  if (value_of(environment, "TIDEMARK_MODE") == "off" || value_of(environment, "TIDEMARK_SHM") == "off") {
    return true;
  }
  if (is_another_meant(environment, own_pid_of(process))) {
    return true;
  }
  const std::string_view skip = value_of(environment, "TIDEMARK_SKIP");
  std::error_code error;
  const fs::path executable = skip.empty() ? fs::path{} : fs::read_symlink(process / "exe", error);
  return !executable.empty() && is_in_list(skip, executable.filename().string());
}

bool is_this_program(const fs::path& process) {
  std::error_code error;
  return fs::equivalent(process / "exe", "/proc/self/exe", error) && !error;
}

// Is `directory` one of those looked into? The library takes absolute paths alone.
bool is_looked_into(const fs::path& directory, std::span<const fs::path> directories) {
  return std::any_of(directories.begin(), directories.end(), [&](const fs::path& known) {
    std::error_code error;
    return known == directory || (fs::equivalent(known, directory, error) && !error);
  });
}

}  // namespace

std::vector<UnpublishedProcess> list_unpublished(const View& view, std::span<const fs::path> directories,
                                                 const fs::path& proc) {
  std::set<std::string> known;
  for (const ProcessView& process : view.processes) {
    if (process.is_alive()) {
      known.insert(std::to_string(process.snapshot.pid));
    }
  }
  std::vector<UnpublishedProcess> found;
  std::error_code error;
  for (fs::directory_iterator entry{proc, error}, end; !error && entry != end; entry.increment(error)) {
    const fs::path& process = entry->path();
    const std::string pid = process.filename().string();
    const bool is_pid = pid.find_first_not_of("0123456789") == std::string::npos;
    if (!is_pid || known.contains(pid) || !is_own_process(process) || !has_library(process) ||
        is_this_program(process)) {
      continue;
    }
    const Environment environment = environment_of(process);
    const std::string_view chosen = value_of(environment, "TIDEMARK_DIR");
    const fs::path directory = chosen.starts_with('/') ? chosen : segment::kDefaultDirectory;
    // One without a name is found wherever it is.
    const bool is_found = value_of(environment, "TIDEMARK_SHM") == "memfd" || is_looked_into(directory, directories);
    found.push_back({.pid = std::stoull(pid),
                     .label = std::string{value_of(environment, "TIDEMARK_LABEL")},
                     .why = is_silent(environment, process) ? WhyUnpublished::Silent
                            : is_found                      ? WhyUnpublished::Waiting
                                                            : WhyUnpublished::Elsewhere,
                     .directory = directory.string()});
  }
  return found;
}

Unpublished find_unpublished(const View& view, std::span<const fs::path> directories, const fs::path& proc) {
  Unpublished found;
  for (const UnpublishedProcess& process : list_unpublished(view, directories, proc)) {
    found.waiting += process.why == WhyUnpublished::Waiting ? 1U : 0U;
    found.silent += process.why == WhyUnpublished::Silent ? 1U : 0U;
    if (process.why == WhyUnpublished::Elsewhere) {
      ++found.elsewhere;
      found.directories.insert(process.directory);
    }
  }
  return found;
}

}  // namespace tidemark::viewer
