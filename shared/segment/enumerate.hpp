// Finds segments, and removes those of dead processes.
//
// Names decide what is looked at, file contents what it is, locks whether its process lives. Nothing here follows
// symbolic links, waits, or creates files. Errors of single files are reported in the result; a missing directory is an
// empty one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/reader.hpp"

namespace tidemark::segment {

struct FoundSegment {
  SegmentReader reader;
  std::string directory;  // where it was found; empty for a memfd
};

// A segment of somebody else: it exists, and that is all we may know.
struct UnreadableSegment {
  std::string path;
  SegmentName name;
  std::uint64_t file_uid = 0;
};

// A file with a name of ours that isn't a usable segment.
struct SkippedFile {
  std::string path;
  Error error;
  std::string reason;  // one clause: "not a segment", "made by a newer version", ...
};

struct SegmentListing {
  std::vector<FoundSegment> segments;  // in order of creation
  std::vector<UnreadableSegment> unreadable;
  std::vector<SkippedFile> skipped;
};

// The same file found through two directories is listed once.
[[nodiscard]] SegmentListing list_segments(std::span<const std::string> directories);
// Segments without a name (TIDEMARK_SHM=memfd), through /proc/PID/fd of the processes that this user may look into.
[[nodiscard]] SegmentListing list_memfd_segments();

// The path of the control file beside a reader's segment; for a memfd it is looked for in the same /proc/PID/fd.
[[nodiscard]] Result<std::string> find_control_path(const SegmentReader& reader);

struct GcOptions {
  std::chrono::seconds keep_for = std::chrono::hours{24};
  std::size_t keep_at_most = 32;  // of each user's dead ones, in one directory; the newest stay
  bool dry_run = false;
  bool of_everyone = false;  // other users' too, where the system lets us (root)
};

struct RemovedSegment {
  std::string path;
  std::uint64_t nonce = 0;
  std::uint64_t bytes = 0;  // with its companions
  std::uint64_t uid = 0;    // whose it was
};

struct GcResult {
  std::vector<RemovedSegment> removed;  // with dry_run: what would be
  std::size_t kept = 0;                 // dead, but young enough
  std::vector<SkippedFile> failed;
  std::map<std::uint64_t, std::size_t> left_alone;  // segments of other users, dead or alive, by user
};

// Removes segments, and leftovers of interrupted creations, of this user whose lock proves that no process has them.
// A file that was replaced between look and removal stays.
[[nodiscard]] GcResult collect_garbage(std::span<const std::string> directories, const GcOptions& options = {});

}  // namespace tidemark::segment
