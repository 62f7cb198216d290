#include "viewer/history/oom_snapshots.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <string_view>

#include "shared/history/reader.hpp"

namespace tidemark::viewer {
namespace {

std::string pattern_of(ProcessView process) {
  read_details(process);
  const auto setting =
      std::ranges::find_if(process.settings, [](const segment::Setting& one) { return one.name == "snapshot_on_oom"; });
  return setting == process.settings.end() ? std::string{} : std::string{setting->value};
}

// The library's pattern as glob()'s: the pid is known, whatever else was filled in may be anything.
std::string glob_of(std::string_view pattern, std::int64_t pid) {
  std::string glob;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    const char next = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (c == '%' && next == 'p') {
      glob += fmt::format("{}", pid);
      ++at;
    } else if (c == '%' && std::string_view{"ehtn"}.find(next) != std::string_view::npos) {
      glob += '*';
      ++at;
    } else if (c == '%' && next == '%') {
      glob += '%';
      ++at;
    } else {
      glob += std::string_view{"*?[\\"}.find(c) == std::string_view::npos ? "" : "\\";
      glob += c;
    }
  }
  return glob;
}

}  // namespace

std::vector<std::string> snapshots_on_oom(const ProcessView& process) {
  std::vector<std::string> paths;
  const std::string pattern = pattern_of(process);
  // Of a relative one nobody knows from where.
  if (!pattern.starts_with('/')) {
    return paths;
  }
  glob_t found{};
  if (::glob(glob_of(pattern, process.snapshot.identity.pid).c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      const auto reader = history::HistoryReader::open(found.gl_pathv[i]);
      if (reader && reader.value().recording().nonce == process.reader->identity().nonce) {
        paths.emplace_back(found.gl_pathv[i]);
      }
    }
  }
  ::globfree(&found);
  return paths;
}

}  // namespace tidemark::viewer
