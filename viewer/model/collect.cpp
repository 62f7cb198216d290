#include "viewer/model/collect.hpp"

#include "viewer/model/containers.hpp"

#include "shared/history/reader.hpp"
#include "shared/segment/container_directories.hpp"
#include "shared/segment/enumerate.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

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

using Reader = std::shared_ptr<const segment::SegmentReader>;

// A segment that is open, and what it was in the look before.
struct Found {
  Reader reader;
  const ProcessView* before = nullptr;  // none: it is new
};

// Those of an earlier look. Names have a nonce, so the same name is the same file.
class Known {
 public:
  explicit Known(const View* view) {
    if (view != nullptr) {
      by_nonce_.reserve(view->processes.size());
      for (const ProcessView& process : view->processes) {
        if (process.reader != nullptr) {
          by_nonce_.emplace(process.reader->identity().nonce, &process);
        }
      }
    }
  }

  [[nodiscard]] const ProcessView* find(const std::string& path, std::uint64_t nonce) const {
    const auto found = by_nonce_.find(nonce);
    return found != by_nonce_.end() && found->second->reader->path() == path ? found->second : nullptr;
  }
  // Segments without a name or in a container, if their processes still live or the files are still there.
  [[nodiscard]] std::vector<Found> behind_proc() const {
    std::vector<Found> found;
    for (const auto& [nonce, process] : by_nonce_) {
      const std::string& path = process->reader->path();
      if (path.starts_with("/proc/") && (process->reader->is_owner_alive() || access(path.c_str(), F_OK) == 0)) {
        found.push_back({.reader = process->reader, .before = process});
      }
    }
    return found;
  }

 private:
  std::unordered_map<std::uint64_t, const ProcessView*> by_nonce_;
};

// One look, in the making.
class Look {
 public:
  explicit Look(const EarlierLook& earlier) : known_(earlier.view), is_glance_(earlier.is_glance) {}

  // `list` is given the question which files are open already.
  template <class List>
  void add(List list) {
    std::vector<Found> found;  // known ones first: of two that lead to the same file they win
    segment::SegmentListing listing = list([&](const std::string& path, std::uint64_t nonce) {
      const ProcessView* const before = known_.find(path, nonce);
      if (before != nullptr) {
        found.push_back({.reader = before->reader, .before = before});
      }
      return before != nullptr;
    });
    for (segment::FoundSegment& fresh : listing.segments) {
      found.push_back({.reader = std::make_shared<const segment::SegmentReader>(std::move(fresh.reader))});
    }
    add_found(std::move(found));
    for (const segment::UnreadableSegment& unreadable : listing.unreadable) {
      view.hidden.push_back(
          {.id = segment::id_of(unreadable.name.nonce), .pid = unreadable.name.pid, .uid = unreadable.file_uid});
    }
    for (const segment::SkippedFile& skipped : listing.skipped) {
      add_skipped(skipped);
    }
  }
  void add_known_behind_proc() { add_found(known_.behind_proc()); }

  View view;

 private:
  void add_found(std::vector<Found> all) {
    std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
      const segment::ProcessIdentity& first = a.reader->identity();
      const segment::ProcessIdentity& second = b.reader->identity();
      return std::pair{first.create_realtime_ns, first.nonce} < std::pair{second.create_realtime_ns, second.nonce};
    });
    view.processes.reserve(view.processes.size() + all.size());
    for (Found& found : all) {
      if (files_.emplace(found.reader->device_id(), found.reader->inode()).second) {
        view.processes.push_back(look_at(std::move(found)));
      }
    }
  }

  [[nodiscard]] ProcessView look_at(Found found) const {
    const ProcessView* const before = found.before;
    segment::EarlierSnapshot earlier;
    if (is_glance_ && before != nullptr) {
      earlier.heartbeat_count = before->snapshot.globals.heartbeat_count;
    }
    ProcessView process = view_of(found.reader->snapshot({}, earlier));
    // Once the other program has ended as well, nobody else can tell any more.
    if (process.snapshot.state == segment::ProcessState::Killed && before != nullptr &&
        before->snapshot.state == segment::ProcessState::Replaced) {
      process.snapshot.state = segment::ProcessState::Replaced;
    }
    // A process stays where it is: /proc is read once.
    process.container_id =
        before != nullptr ? before->container_id : container_id_of(process.is_alive() ? process.snapshot.pid : 0);
    process.reader = std::move(found.reader);
    if (!is_glance_) {
      read_recording(process);
    }
    return process;
  }

  void add_skipped(const segment::SkippedFile& skipped) {
    SkippedSegment& entry = view.skipped.emplace_back();
    entry.path = skipped.path;
    entry.reason = skipped.reason;
    entry.wrong_layout = skipped.error.code == ErrorCode::WrongVersion;
    if (const auto name = segment::parse_stats_name(fs::path{skipped.path}.filename().string())) {
      entry.id = segment::id_of(name->nonce);
      entry.pid = name->pid;
    }
  }

  const Known known_;
  const bool is_glance_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> files_;  // one may lie in two of the directories
};

std::vector<std::string> names_of(std::span<const fs::path> directories) {
  std::vector<std::string> names;
  for (const fs::path& directory : directories) {
    names.push_back(directory.string());
  }
  return names;
}

}  // namespace

View collect(std::span<const fs::path> directories, const EarlierLook& earlier) {
  Look look(earlier);
  look.view.host = host_name();
  look.view.time_ns = now_ns();
  const std::vector<std::string> names = names_of(directories);
  look.view.directories = names;
  const auto add_files_in = [&look](std::span<const std::string> places) {
    look.add([&](const segment::IsKnown& is_known) { return segment::list_segments(places, is_known); });
  };
  add_files_in(names);
  if (!earlier.looks_everywhere) {
    look.add_known_behind_proc();
    return std::move(look.view);
  }
  std::set<std::int64_t> named{getpid()};  // and our own descriptors of what others publish
  for (const ProcessView& process : look.view.processes) {
    if (process.is_alive()) {
      named.insert(process.snapshot.pid);
    }
  }
  look.add([&](const segment::IsKnown& is_known) { return segment::list_memfd_segments(is_known, named); });
  add_files_in(segment::directories_in_containers(names, named));
  return std::move(look.view);
}

void read_recording(ProcessView& process) {
  if (process.reader != nullptr && process.snapshot.globals.has(segment::ProcessFlag::Recording)) {
    if (const auto reader = history::HistoryReader::beside(*process.reader)) {
      process.recording = reader.value().recording();
    }
  }
}

View without_numbers(const View& view) {
  View light;
  light.processes.reserve(view.processes.size());
  for (const ProcessView& process : view.processes) {
    ProcessView& known = light.processes.emplace_back();
    known.reader = process.reader;
    known.container_id = process.container_id;
    known.snapshot.state = process.snapshot.state;
    known.snapshot.globals.heartbeat_count = process.snapshot.globals.heartbeat_count;
  }
  return light;
}

void sweep(std::span<const fs::path> directories, bool of_everyone) {
  // What can't be removed stays; gc says why.
  static_cast<void>(segment::collect_garbage(names_of(directories), {.of_everyone = of_everyone}));
}

ProcessView look_again(const ProcessView& process) {
  ProcessView again = view_of(process.reader->snapshot());
  again.reader = process.reader;
  again.container_id = process.container_id;
  for (DeviceView& device : again.devices) {
    const auto before = std::find_if(process.devices.begin(), process.devices.end(),
                                     [&](const DeviceView& known) { return known.uuid == device.uuid; });
    device.node_index = before == process.devices.end() ? std::nullopt : before->node_index;
  }
  return again;
}

}  // namespace tidemark::viewer
