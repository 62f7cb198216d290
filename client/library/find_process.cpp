// OtherProcess: which segment a target means.
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "client/library/failure.hpp"
#include "client/library/other_process.hpp"
#include "shared/segment/container_directories.hpp"
#include "shared/segment/enumerate.hpp"
#include "shared/segment/target.hpp"

namespace tidemark::client {
namespace {

struct Found {
  std::vector<segment::FoundSegment> segments;
  std::vector<segment::UnreadableSegment> unreadable;
  std::vector<segment::SkippedFile> skipped;

  void add(segment::SegmentListing listing) {
    std::move(listing.segments.begin(), listing.segments.end(), std::back_inserter(segments));
    std::move(listing.unreadable.begin(), listing.unreadable.end(), std::back_inserter(unreadable));
    std::move(listing.skipped.begin(), listing.skipped.end(), std::back_inserter(skipped));
  }

  [[nodiscard]] std::vector<std::size_t> meant_by(std::string_view target) const {
    std::vector<segment::Nameable> processes;
    for (const segment::FoundSegment& found : segments) {
      const segment::ProcessIdentity& identity = found.reader.identity();
      const std::int64_t visible = found.reader.visible_pid();
      processes.push_back({.id = identity.id,
                           .label = identity.label,
                           .pid = visible != 0 ? visible : identity.pid,
                           .is_alive = found.reader.is_owner_alive()});
    }
    return segment::find_target(processes, target);
  }
};

[[noreturn]] void fail_ambiguous(const Found& found, const std::vector<std::size_t>& meant, std::string_view target) {
  std::string ids;
  for (const std::size_t i : meant) {
    ids += (ids.empty() ? "" : ", ") + found.segments[i].reader.identity().id;
  }
  throw Failure(TIDEMARK_ERROR_AMBIGUOUS, quoted(target) + " could be any of " + ids + "; name one by its id");
}

// It is none that can be read: somebody else's, a file that is of no use, or there is none.
[[noreturn]] void fail_not_among(const Found& found, std::string_view target) {
  const auto is_of = [&](std::uint64_t pid, std::uint64_t nonce) {
    return segment::is_named({.id = segment::id_of(nonce), .label = {}, .pid = static_cast<std::int64_t>(pid)}, target);
  };
  for (const segment::UnreadableSegment& unreadable : found.unreadable) {
    if (is_of(unreadable.name.pid, unreadable.name.nonce)) {
      throw Failure(TIDEMARK_ERROR_PERMISSION, "process " + std::string{target} + " belongs to user " +
                                                   std::to_string(unreadable.file_uid) +
                                                   " and is not readable; ask them for TIDEMARK_ACCESS=all");
    }
  }
  for (const segment::SkippedFile& skipped : found.skipped) {
    const std::size_t slash = skipped.path.rfind('/');
    const auto name = segment::parse_stats_name(std::string_view{skipped.path}.substr(slash + 1));
    if (name && is_of(name->pid, name->nonce)) {
      throw Failure(
          skipped.error.code == ErrorCode::WrongVersion ? TIDEMARK_ERROR_WRONG_VERSION : TIDEMARK_ERROR_BAD_SEGMENT,
          skipped.path + ": " + skipped.reason);
    }
  }
  throw Failure(TIDEMARK_ERROR_NO_SUCH_PROCESS,
                "no process " + quoted(target) +
                    " (a pid, an id or a label) publishes counters; 'tidemark ps' lists "
                    "those that do");
}

}  // namespace

std::unique_ptr<OtherProcess> OtherProcess::open(std::string_view target) {
  Found found;
  const std::vector<std::string> directories{segment::configured_directory()};
  found.add(segment::list_segments(directories));
  std::vector<std::size_t> meant = found.meant_by(target);
  if (meant.empty()) {  // a look into the descriptors and the mount namespaces of all processes costs more than all
                        // names
    found.add(segment::list_memfd_segments({}, {getpid()}));
    found.add(segment::list_segments(segment::directories_in_containers(directories, {getpid()})));
    meant = found.meant_by(target);
  }
  if (meant.empty()) {
    fail_not_among(found, target);
  }
  if (meant.size() > 1) {
    fail_ambiguous(found, meant, target);
  }
  return std::make_unique<OtherProcess>(std::move(found.segments[meant.front()].reader));
}

}  // namespace tidemark::client
