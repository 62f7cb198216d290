// The removal of what dead processes left: by proof of their lock, never by pid.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
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

// A file of this user, held open so that what was looked at is what is removed.
struct OwnFile {
  std::string path;
  FileHandle file;
  struct stat info {};
};

std::optional<OwnFile> open_own(const std::string& path) {
  OwnFile own{.path = path,
              .file = FileHandle{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)}};
  const bool is_ours = own.file && ::fstat(own.file.get(), &own.info) == 0 && S_ISREG(own.info.st_mode) &&
                       own.info.st_uid == ::geteuid();
  if (!is_ours) {
    return std::nullopt;
  }
  return own;
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
std::uint64_t last_sign_ns(const OwnFile& own) {
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
    for (std::size_t i = 0; i < dead_.size(); ++i) {
      if (i < options_.keep_at_most && age_of(dead_[i].last_sign_ns) < options_.keep_for) {
        ++result_.kept;
      } else {
        remove_segment(dead_[i]);
      }
    }
  }

 private:
  struct Dead {
    OwnFile own;
    SegmentName name;
    std::uint64_t last_sign_ns = 0;
  };

  [[nodiscard]] std::string path_of(std::string_view name) const { return directory_ + "/" + std::string{name}; }

  void look_at(const std::string& entry) {
    if (const auto name = parse_stats_name(entry)) {
      if (auto own = open_own(path_of(entry)); own && !is_locked(own->file.get())) {
        const std::uint64_t last_sign = last_sign_ns(*own);
        dead_.push_back({std::move(*own), *name, last_sign});
      }
      return;
    }
    if (is_temporary_name(entry)) {
      remove_leftover(entry, kCreationTakesAtMost);
      return;
    }
    for (const std::string_view suffix : {kControlSuffix, kHistorySuffix}) {
      if (entry.ends_with(suffix) &&
          parse_stats_name(std::string_view{entry}.substr(0, entry.size() - suffix.size()))) {
        look_at_companion(entry, suffix);
      }
    }
  }

  // A companion whose counters are there goes with them. While a segment is made its control file comes first, but
  // locked.
  void look_at_companion(const std::string& entry, std::string_view suffix) {
    struct stat info {};
    const std::string stats = path_of(std::string_view{entry}.substr(0, entry.size() - suffix.size()));
    if (::lstat(stats.c_str(), &info) != 0 && errno == ENOENT) {
      // A history is worth keeping for as long as counters are.
      remove_leftover(entry, suffix == kHistorySuffix ? options_.keep_for : std::chrono::nanoseconds{0});
    }
  }

  void remove_leftover(const std::string& entry, std::chrono::nanoseconds older_than) {
    const auto own = open_own(path_of(entry));
    if (own && !is_locked(own->file.get()) && age_of(modified_ns(own->info)) >= older_than) {
      if (remove_file(*own)) {
        result_.removed.push_back({own->path, 0, static_cast<std::uint64_t>(own->info.st_size)});
      }
    }
  }

  void remove_segment(const Dead& dead) {
    if (!remove_file(dead.own)) {
      return;
    }
    RemovedSegment removed{dead.own.path, dead.name.nonce, static_cast<std::uint64_t>(dead.own.info.st_size)};
    for (const NameText& companion : {control_name(dead.name), history_name(dead.name)}) {
      if (const auto own = open_own(path_of(companion.view())); own && remove_file(*own)) {
        removed.bytes += static_cast<std::uint64_t>(own->info.st_size);
      }
    }
    result_.removed.push_back(std::move(removed));
  }

  // True: removed, or would be.
  bool remove_file(const OwnFile& own) {
    struct stat now {};
    if (::lstat(own.path.c_str(), &now) != 0 || now.st_dev != own.info.st_dev || now.st_ino != own.info.st_ino) {
      return false;  // somebody else was faster, or the name leads elsewhere now
    }
    if (options_.dry_run || ::unlink(own.path.c_str()) == 0) {
      return true;
    }
    if (errno != ENOENT) {
      result_.failed.push_back({own.path, system_error(errno), "cannot be removed"});
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
