// Processes that have the library but no segment to look at, and why, as far as their environment tells.
#pragma once

#include "viewer/model/view.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

enum class WhyUnpublished { Waiting, Silent, Elsewhere };  // as Unpublished says

struct UnpublishedProcess {
  std::uint64_t pid = 0;
  std::string label{};
  WhyUnpublished why = WhyUnpublished::Waiting;
  std::string directory{};  // where its segment is or will be
};

struct Unpublished {
  std::size_t waiting = 0;  // nothing allocated yet; the first allocation brings a segment that is found here
  std::size_t silent = 0;   // TIDEMARK_MODE=off, TIDEMARK_SHM=off, TIDEMARK_SKIP or TIDEMARK_ONLY_PID: never any
  std::size_t elsewhere = 0;
  std::set<std::string> directories;  // of those elsewhere, as they wrote them
};

// Each of them.
[[nodiscard]] std::vector<UnpublishedProcess> list_unpublished(const View& view,
                                                               std::span<const std::filesystem::path> directories,
                                                               const std::filesystem::path& proc = "/proc");

// Living processes of this user (as root: of all) that aren't in `view`, which was collected from `directories`. The
// viewer itself, which inherits the library in a shell under it, isn't counted. Reads /proc/PID/maps of every process,
// so it costs more than collect(). `proc` is for tests.
[[nodiscard]] Unpublished find_unpublished(const View& view, std::span<const std::filesystem::path> directories,
                                           const std::filesystem::path& proc = "/proc");

}  // namespace tidemark::viewer
