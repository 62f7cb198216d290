#include "viewer/segment_directories.hpp"

#include "viewer/exit_code.hpp"

#include "shared/segment/names.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace tidemark::viewer {
namespace {

struct Trouble {
  ExitCode code = ExitCode::Usage;
  std::string what;  // "does not exist"
};

// Why no segment can be found there; nullopt: it can.
std::optional<Trouble> trouble_with(const std::string& directory) {
  struct stat found {};
  if (stat(directory.c_str(), &found) != 0) {
    return errno == ENOENT ? Trouble{ExitCode::Usage, "does not exist"}
                           : Trouble{errno == EACCES ? ExitCode::PermissionDenied : ExitCode::Usage,
                                     fmt::format("cannot be looked at ({})", std::strerror(errno))};
  }
  if (!S_ISDIR(found.st_mode)) {
    return Trouble{ExitCode::Usage, "is not a directory"};
  }
  if (access(directory.c_str(), R_OK | X_OK) != 0) {
    return Trouble{ExitCode::PermissionDenied, fmt::format("cannot be read ({})", std::strerror(errno))};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::filesystem::path> segment_directories(const std::vector<std::string>& more, const Messages& messages) {
  std::vector<std::filesystem::path> directories;
  const std::string configured = segment::configured_directory();
  const std::string name =
      configured == segment::kDefaultDirectory ? configured : fmt::format("TIDEMARK_DIR '{}'", configured);
  if (!configured.starts_with('/')) {
    messages.note(fmt::format("{} has to be an absolute path; no program puts its segment there", name));
  } else {
    if (const auto trouble = trouble_with(configured)) {
      messages.note(fmt::format("{} {}; no segment is found there", name, trouble->what));
    }
    directories.emplace_back(configured);
  }
  for (const std::string& directory : more) {
    if (const auto trouble = trouble_with(directory)) {
      throw Failure(trouble->code, fmt::format("--dir '{}' {}", directory, trouble->what));
    }
    directories.emplace_back(directory);
  }
  return directories;
}

}  // namespace tidemark::viewer
