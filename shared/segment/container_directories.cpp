#include "shared/segment/container_directories.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "shared/segment/directory_scan.hpp"
#include "shared/segment/file_handle.hpp"

namespace tidemark::segment {
namespace {

using FileId = std::pair<dev_t, ino_t>;

std::string link_target(const std::string& path) {
  std::array<char, 64> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return {target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

// The lowest pid of each mount namespace but ours.
std::vector<std::int64_t> one_of_each_namespace(const std::set<std::int64_t>& left_out) {
  const std::string ours = link_target("/proc/self/ns/mnt");
  std::map<std::string, std::int64_t> namespaces;
  for_each_entry("/proc", [&](std::string_view name) {
    if (name.find_first_not_of("0123456789") != std::string_view::npos) {
      return;
    }
    const std::int64_t pid = std::stoll(std::string{name});
    if (left_out.contains(pid)) {
      return;
    }
    const std::string theirs = link_target("/proc/" + std::to_string(pid) + "/ns/mnt");
    if (!theirs.empty() && theirs != ours) {
      const auto [known, is_new] = namespaces.emplace(theirs, pid);
      known->second = std::min(known->second, pid);
    }
  });
  std::vector<std::int64_t> pids;
  for (const auto& [name, pid] : namespaces) {
    pids.push_back(pid);
  }
  return pids;
}

std::optional<FileId> id_of_file(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? std::optional{FileId{info.st_dev, info.st_ino}} : std::nullopt;
}

// Nothing where it isn't there, or only behind a link.
std::optional<FileId> directory_below(const std::string& root, const std::string& directory) {
  const FileHandle top{open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  const std::string below = directory.substr(std::min(directory.find_first_not_of('/'), directory.size()));
  const FileHandle found{top ? static_cast<int>(syscall(SYS_openat2, top.get(), below.c_str(), &how, sizeof how)) : -1};
  return found ? id_of_file(found.get()) : std::nullopt;
}

}  // namespace

std::vector<std::string> directories_in_containers(std::span<const std::string> directories,
                                                   const std::set<std::int64_t>& left_out) {
  std::vector<std::string> found;
  if (geteuid() != 0) {
    return found;
  }
  std::set<FileId> known;
  for (const std::string& directory : directories) {
    struct stat info {};
    if (stat(directory.c_str(), &info) == 0) {
      known.emplace(info.st_dev, info.st_ino);
    }
  }
  for (const std::int64_t pid : one_of_each_namespace(left_out)) {
    const std::string root = "/proc/" + std::to_string(pid) + "/root";
    for (const std::string& directory : directories) {
      const std::optional<FileId> id = directory.starts_with('/') ? directory_below(root, directory) : std::nullopt;
      if (id && known.insert(*id).second) {
        found.push_back(root + directory);
      }
    }
  }
  return found;
}

}  // namespace tidemark::segment
