#include "viewer/model/containers.hpp"

#include "shared/segment/proc_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

bool is_id(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

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
