#include "viewer/model/collect.hpp"

#include "shared/segment/enumerate.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <set>
#include <utility>

namespace tidemark::viewer {
namespace fs = std::filesystem;
namespace {

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count());
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void add(View& view, segment::SegmentListing listing) {
  for (segment::FoundSegment& found : listing.segments) {
    auto reader = std::make_shared<const segment::SegmentReader>(std::move(found.reader));
    ProcessView process = view_of(reader->snapshot());
    process.reader = std::move(reader);
    view.processes.push_back(std::move(process));
  }
  for (const segment::UnreadableSegment& unreadable : listing.unreadable) {
    view.hidden.push_back(
        {.id = segment::id_of(unreadable.name.nonce), .pid = unreadable.name.pid, .uid = unreadable.file_uid});
  }
  for (const segment::SkippedFile& skipped : listing.skipped) {
    SkippedSegment& entry = view.skipped.emplace_back();
    entry.path = skipped.path;
    entry.reason = skipped.reason;
    entry.wrong_layout = skipped.error.code == ErrorCode::WrongVersion;
    if (const auto name = segment::parse_stats_name(fs::path{skipped.path}.filename().string())) {
      entry.id = segment::id_of(name->nonce);
      entry.pid = name->pid;
    }
  }
}

std::vector<std::string> names_of(std::span<const fs::path> directories) {
  std::vector<std::string> names;
  for (const fs::path& directory : directories) {
    names.push_back(directory.string());
  }
  return names;
}

bool is_own_process(const fs::path& directory) {
  struct stat found {};
  return stat(directory.c_str(), &found) == 0 && (geteuid() == 0 || found.st_uid == geteuid());
}

}  // namespace

View collect(std::span<const fs::path> directories) {
  View view{.host = host_name(), .time_ns = now_ns(), .processes = {}, .hidden = {}, .skipped = {}};
  add(view, segment::list_segments(names_of(directories)));
  add(view, segment::list_memfd_segments());
  return view;
}

void sweep(std::span<const fs::path> directories) {
  // What can't be removed stays; gc says why.
  static_cast<void>(segment::collect_garbage(names_of(directories)));
}

ProcessView look_again(const ProcessView& process) {
  ProcessView again = view_of(process.reader->snapshot());
  again.reader = process.reader;
  return again;
}

bool has_library(const std::string& pid) {
  std::ifstream maps("/proc/" + pid + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/libtidemark.so")) {
      return true;
    }
  }
  return false;
}

std::size_t count_waiting(const View& view) {
  std::set<std::string> known;
  for (const ProcessView& process : view.processes) {
    if (process.is_alive()) {
      known.insert(std::to_string(process.snapshot.pid));
    }
  }
  std::size_t waiting = 0;
  std::error_code error;
  for (fs::directory_iterator entry{"/proc", error}, end; !error && entry != end; entry.increment(error)) {
    const std::string pid = entry->path().filename().string();
    const bool is_pid = pid.find_first_not_of("0123456789") == std::string::npos;
    if (is_pid && !known.contains(pid) && is_own_process(entry->path()) && has_library(pid)) {
      ++waiting;
    }
  }
  return waiting;
}

}  // namespace tidemark::viewer
