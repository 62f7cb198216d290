#include "shared/control/obstacle.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/control/control_file.hpp"
#include "shared/segment/enumerate.hpp"
#include "shared/segment/proc_file.hpp"

namespace tidemark::control {
namespace {

using segment::SegmentReader;

std::string proc_path(std::int64_t pid, std::string_view entry) {
  return "/proc/" + std::to_string(pid) + "/" + std::string{entry};
}

// The `index`th word behind "Name:" in a /proc/PID/status.
std::optional<std::uint64_t> status_word(std::string_view status, std::string_view name, int index, int base) {
  const std::size_t at = status.find(name);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view line = status.substr(at + name.size());
  line = line.substr(0, line.find('\n'));
  for (;; --index) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (index == 0) {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
      return error == std::errc{} ? std::optional{value} : std::nullopt;
    }
    line.remove_prefix(word.size());
  }
}

// May only some users look up names in the directory of `path`?
bool is_in_closed_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.substr(0, path.rfind('/')).c_str(), &info) == 0 && (info.st_mode & S_IXOTH) == 0;
}

// Is the process somebody now who may not do what only `owner` may? Only if /proc says so.
bool is_kept_out(std::int64_t pid, std::uint64_t owner) {
  constexpr int kFileSystemUser = 3;                           // real, effective, saved, file system
  constexpr std::uint64_t kReadsAnything = 1U << 1 | 1U << 2;  // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
  std::array<char, 4096> buffer;                               // uninitialised: filled by what is read
  const std::string_view status = segment::read_start_of(proc_path(pid, "status").c_str(), buffer);
  const auto user = status_word(status, "\nUid:", kFileSystemUser, 10);
  const auto capabilities = status_word(status, "\nCapEff:", 0, 16);
  return user && capabilities && *user != owner && (*capabilities & kReadsAnything) == 0;
}

std::string link_target(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return {target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

bool has_other_root(std::int64_t pid) {
  const std::string theirs = link_target(proc_path(pid, "root"));
  return !theirs.empty() && theirs != link_target("/proc/self/root");
}

bool is_changed(const std::string& path, const SegmentReader& reader) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 &&
         (info.st_uid != reader.identity().file_uid || (info.st_mode & 07777 & ~mode_t{0600}) != 0);
}

}  // namespace

Obstacle find_obstacle(const SegmentReader& reader) {
  if (!reader.identity().has_control) {
    return Obstacle::Off;
  }
  const Result<segment::FileHandle> file = open_control_file(reader, O_RDONLY);
  if (!file && file.error().code == ErrorCode::NotFound) {
    return Obstacle::Removed;
  }
  if (!file && file.error().code == ErrorCode::BadFormat) {
    return Obstacle::Replaced;
  }
  const Result<std::string> path = segment::find_control_path(reader);
  if (path && is_changed(path.value(), reader)) {
    return Obstacle::Opened;
  }
  const std::int64_t pid = reader.visible_pid();
  // A process has its control file mapped, and only makes sure that the name still leads to it. A memfd needs no name.
  const bool has_name = path && path.value().ends_with(segment::kControlSuffix);
  if (has_name && pid != 0 && is_in_closed_directory(path.value()) && is_kept_out(pid, reader.identity().file_uid)) {
    return Obstacle::OtherUser;
  }
  if (!reader.globals().has(segment::ProcessFlag::ControlClosed)) {
    return Obstacle::None;
  }
  return pid != 0 && has_other_root(pid) ? Obstacle::OtherRoot : Obstacle::Closed;
}

}  // namespace tidemark::control
