#include "viewer/model/containers.hpp"

#include "shared/segment/directory_scan.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/proc_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace tidemark::viewer {
namespace fs = std::filesystem;
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
  segment::for_each_entry("/proc", [&](std::string_view name) {
    if (name.find_first_not_of("0123456789") != std::string_view::npos) {
      return;
    }
    const std::int64_t pid = std::stoll(std::string{name});
    if (left_out.contains(pid)) {
      return;
    }
    const std::string theirs = link_target(fmt::format("/proc/{}/ns/mnt", pid));
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
std::optional<FileId> directory_below(const std::string& root, const fs::path& directory) {
  const segment::FileHandle top{open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  const std::string below = directory.relative_path().string();
  const segment::FileHandle found{
      top ? static_cast<int>(syscall(SYS_openat2, top.get(), below.c_str(), &how, sizeof how)) : -1};
  return found ? id_of_file(found.get()) : std::nullopt;
}

bool is_id(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::vector<fs::path> directories_in_containers(std::span<const fs::path> directories,
                                                const std::set<std::int64_t>& left_out) {
  std::vector<fs::path> found;
  if (geteuid() != 0) {
    return found;
  }
  std::set<FileId> known;
  for (const fs::path& directory : directories) {
    struct stat info {};
    if (stat(directory.c_str(), &info) == 0) {
      known.emplace(info.st_dev, info.st_ino);
    }
  }
  for (const std::int64_t pid : one_of_each_namespace(left_out)) {
    const std::string root = fmt::format("/proc/{}/root", pid);
    for (const fs::path& directory : directories) {
      const std::optional<FileId> id = directory.is_absolute() ? directory_below(root, directory) : std::nullopt;
      if (id && known.insert(*id).second) {
        found.emplace_back(root + directory.string());
      }
    }
  }
  return found;
}

// "0::/system.slice/docker-<id>.scope", "0::/kubepods/.../cri-containerd-<id>.scope", "0::/docker/<id>/init": the
// innermost part that is one. What watches a container of Podman is not in it.
std::string container_id_in(std::string_view cgroup) {
  std::string found;
  while (!cgroup.empty()) {
    const std::size_t end = std::min(cgroup.find_first_of("/\n:"), cgroup.size());
    std::string_view part = cgroup.substr(0, end);
    cgroup.remove_prefix(std::min(end + 1, cgroup.size()));
    constexpr std::string_view kScope = ".scope";
    if (part.ends_with(kScope)) {
      part.remove_suffix(kScope.size());
    }
    if (part.find("conmon") == std::string_view::npos) {
      part.remove_prefix(part.rfind('-') + 1);  // npos + 1 is 0
      found = is_id(part) ? std::string{part} : found;
    }
  }
  return found;
}

std::string container_id_of(std::int64_t pid) {
  std::array<char, 4096> buffer;  // uninitialised: filled by what is read
  return pid <= 0 ? std::string{}
                  : container_id_in(segment::read_start_of(fmt::format("/proc/{}/cgroup", pid).c_str(), buffer));
}

}  // namespace tidemark::viewer
