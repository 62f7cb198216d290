// Finds segments, and removes those of dead processes.
//
// Names decide what is looked at, file contents what it is, locks whether its process lives. Nothing here follows
// symbolic links, waits, or creates files. Errors of single files are reported in the result; a missing directory is an
// empty one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
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

// Does the caller have the segment at this path open already? `nonce` is what its name says. It is listed by its path
// then, and costs nothing but its name.
using IsKnown = std::function<bool(const std::string& path, std::uint64_t nonce)>;

struct SegmentListing {
  std::vector<FoundSegment> segments;  // in order of creation
  std::vector<std::string> known;      // paths
  std::vector<UnreadableSegment> unreadable;
  std::vector<SkippedFile> skipped;
};

// The same file found through two directories is listed once.
[[nodiscard]] SegmentListing list_segments(std::span<const std::string> directories, const IsKnown& is_known = {});
// Segments without a name (TIDEMARK_SHM=memfd), through /proc/PID/fd of the processes that this user may look into.
// That is a system call for each of their descriptors, so processes known to have a segment of another kind are left
// out.
[[nodiscard]] SegmentListing list_memfd_segments(const IsKnown& is_known = {},
                                                 const std::set<std::int64_t>& left_out = {});

// The path of the control file beside a reader's segment; for a memfd it is looked for in the same /proc/PID/fd.
[[nodiscard]] Result<std::string> find_control_path(const SegmentReader& reader);

struct GcOptions {
  std::chrono::seconds keep_for = std::chrono::hours{24};
  std::size_t keep_at_most = 32;  // of each user's dead ones, in one directory; the newest stay
  bool dry_run = false;
  bool of_everyone = false;  // other users' too, where the system lets us (root)
  // Empty: every segment, and leftovers. Otherwise only segments of these nonces.
  std::function<bool(std::uint64_t nonce)> is_meant{};
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
  std::size_t alive = 0;                // of this user (or everyone), in use
  std::vector<SkippedFile> failed;
  std::map<std::uint64_t, std::size_t> left_alone;  // segments of other users, dead or alive, by user
};

// Removes segments, and leftovers of interrupted creations, of this user whose lock proves that no process has them.
// A file that was replaced between look and removal stays.
[[nodiscard]] GcResult collect_garbage(std::span<const std::string> directories, const GcOptions& options = {});

}  // namespace tidemark::segment
