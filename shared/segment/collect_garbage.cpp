// The removal of what dead processes left: by proof of their lock, never by pid.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "shared/segment/directory_scan.hpp"
#include "shared/segment/enumerate.hpp"
#include "shared/segment/liveness.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/own_identity.hpp"

namespace tidemark::segment {
namespace {

constexpr std::chrono::nanoseconds kCreationTakesAtMost = std::chrono::minutes{1};
constexpr std::chrono::nanoseconds kFetchingTakesAtMost = std::chrono::minutes{1};

// A file, held open so that what was looked at is what is removed.
struct OpenFile {
  std::string path;
  FileHandle file;
  struct stat info {};
};

std::optional<OpenFile> open_regular(const std::string& path) {
  OpenFile opened{.path = path,
                  .file = FileHandle{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)}};
  if (!opened.file || ::fstat(opened.file.get(), &opened.info) != 0 || !S_ISREG(opened.info.st_mode)) {
    return std::nullopt;
  }
  return opened;
}

// Whose file it is, whoever may read it; nullopt: no file.
std::optional<uid_t> owner_of(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? std::optional{info.st_uid} : std::nullopt;
}

std::uint64_t modified_ns(const struct stat& info) {
  return static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
}

// A clock that was set back makes a file as young as can be.
std::chrono::nanoseconds age_of(std::uint64_t time_ns) {
  const std::uint64_t now = clock_ns(CLOCK_REALTIME);
  return std::chrono::nanoseconds{now > time_ns ? static_cast<std::int64_t>(now - time_ns) : 0};
}

// The last that was heard of a dead process; 0: it wanted to leave nothing behind. Stores through a mapping don't touch
// the file's own time.
std::uint64_t last_sign_ns(const OpenFile& own) {
  std::uint64_t last = modified_ns(own.info);
  if (const Result<SegmentReader> reader = SegmentReader::open(own.path)) {
    const ProcessGlobals globals = reader.value().globals();
    if (globals.has(ProcessFlag::GivenUp)) {
      return 0;
    }
    last = std::max({last, globals.heartbeat_realtime_ns, globals.exit_realtime_ns});
  }
  return std::min(last, clock_ns(CLOCK_REALTIME));
}

class Collection {
 public:
  Collection(const std::string& directory, const GcOptions& options, GcResult& result)
      : directory_(directory), options_(options), result_(result) {}

  void run() {
    for_each_entry(directory_, [this](std::string_view entry) { look_at(std::string{entry}); });
    // The newest stay.
    std::ranges::sort(dead_, std::greater{}, &Dead::last_sign_ns);
    std::map<uid_t, std::size_t> met;
    for (const Dead& dead : dead_) {
      if (met[dead.file.info.st_uid]++ < options_.keep_at_most && age_of(dead.last_sign_ns) < options_.keep_for) {
        ++result_.kept;
      } else {
        remove_segment(dead);
      }
    }
  }

 private:
  struct Dead {
    OpenFile file;
    SegmentName name;
    std::uint64_t last_sign_ns = 0;
  };

  [[nodiscard]] std::string path_of(std::string_view name) const { return directory_ + "/" + std::string{name}; }

  // Is it somebody's that we may collect?
  [[nodiscard]] bool is_collectable(uid_t owner) const { return options_.of_everyone || owner == ::geteuid(); }

  void look_at(const std::string& entry) {
    if (const auto name = parse_stats_name(entry)) {
      if (!options_.is_meant || options_.is_meant(name->nonce)) {
        look_at_segment(path_of(entry), *name);
      }
      return;
    }
    if (options_.is_meant) {
      return;
    }
    if (is_temporary_name(entry)) {
      remove_leftover(entry, kCreationTakesAtMost);
      return;
    }
    for (const std::string_view suffix : {kControlSuffix, kHistorySuffix, kRangesSuffix}) {
      if (entry.ends_with(suffix) &&
          parse_stats_name(std::string_view{entry}.substr(0, entry.size() - suffix.size()))) {
        look_at_companion(entry, suffix);
      }
    }
    if (const std::size_t suffix = entry.find(kSnapshotSuffix);
        suffix != std::string::npos && parse_stats_name(std::string_view{entry}.substr(0, suffix))) {
      remove_leftover(entry, kFetchingTakesAtMost);  // whoever asked for it was killed
    }
  }

  void look_at_segment(const std::string& path, const SegmentName& name) {
    const auto owner = owner_of(path);
    if (owner && !is_collectable(*owner)) {
      ++result_.left_alone[*owner];
      return;
    }
    auto file = open_regular(path);
    if (!file || !is_collectable(file->info.st_uid)) {
      return;
    }
    if (is_locked(file->file.get())) {
      ++result_.alive;
    } else {
      const std::uint64_t last_sign = last_sign_ns(*file);
      dead_.push_back({std::move(*file), name, last_sign});
    }
  }

  // A companion whose counters are there goes with them. While a segment is made its control file comes first, but
  // locked.
  void look_at_companion(const std::string& entry, std::string_view suffix) {
    struct stat info {};
    const std::string stats = path_of(std::string_view{entry}.substr(0, entry.size() - suffix.size()));
    if (::lstat(stats.c_str(), &info) != 0 && errno == ENOENT) {
      // A history is worth keeping for as long as counters are; a table of ranges is nothing without them.
      remove_leftover(entry, suffix == kHistorySuffix ? options_.keep_for : std::chrono::nanoseconds{0});
    }
  }

  void remove_leftover(const std::string& entry, std::chrono::nanoseconds older_than) {
    const auto file = open_regular(path_of(entry));
    if (file && is_collectable(file->info.st_uid) && !is_locked(file->file.get()) &&
        age_of(modified_ns(file->info)) >= older_than && remove_file(*file)) {
      result_.removed.push_back(removal_of(*file, 0));
    }
  }

  static RemovedSegment removal_of(const OpenFile& file, std::uint64_t nonce) {
    return {.path = file.path,
            .nonce = nonce,
            .bytes = static_cast<std::uint64_t>(file.info.st_size),
            .uid = file.info.st_uid};
  }

  void remove_segment(const Dead& dead) {
    if (!remove_file(dead.file)) {
      return;
    }
    RemovedSegment removed = removal_of(dead.file, dead.name.nonce);
    for (const NameText& companion : {control_name(dead.name), history_name(dead.name), ranges_name(dead.name)}) {
      const auto file = open_regular(path_of(companion.view()));
      // Of the same owner: in a directory that everybody may write, the name alone could be anybody's.
      if (file && file->info.st_uid == dead.file.info.st_uid && remove_file(*file)) {
        removed.bytes += static_cast<std::uint64_t>(file->info.st_size);
      }
    }
    result_.removed.push_back(std::move(removed));
  }

  // True: removed, or would be.
  bool remove_file(const OpenFile& file) {
    struct stat now {};
    if (::lstat(file.path.c_str(), &now) != 0 || now.st_dev != file.info.st_dev || now.st_ino != file.info.st_ino) {
      return false;  // somebody else was faster, or the name leads elsewhere now
    }
    if (options_.dry_run || ::unlink(file.path.c_str()) == 0) {
      return true;
    }
    if (errno != ENOENT) {
      result_.failed.push_back({file.path, system_error(errno), "cannot be removed"});
    }
    return false;
  }

  const std::string& directory_;
  const GcOptions& options_;
  GcResult& result_;
  std::vector<Dead> dead_;
};

}  // namespace

GcResult collect_garbage(std::span<const std::string> directories, const GcOptions& options) {
  GcResult result;
  for (const std::string& directory : directories) {
    Collection{directory, options, result}.run();
  }
  return result;
}

}  // namespace tidemark::segment
