#include "viewer/launch/run_segments.hpp"

#include "viewer/model/process_environment.hpp"

#include "shared/segment/enumerate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace tidemark::viewer {
namespace {

// A run inside a run has the ids of both.
bool belongs_to(const segment::SegmentReader& reader, const std::string& id) {
  return std::ranges::any_of(reader.settings(), [&](const segment::Setting& setting) {
    return setting.name == "run_id" && is_in_list(setting.value, id);
  });
}

// Would the process's own end have removed it?
bool stays_with(std::string_view keep, const segment::SegmentReader& reader) {
  if (keep == "all" || keep == "none") {
    return keep == "all";
  }
  return reader.state() != segment::ProcessState::Exited || reader.globals().has(segment::ProcessFlag::HadOutOfMemory);
}

}  // namespace

void RunSegments::look() {
  const std::vector<std::string> directories{directory_};
  segment::SegmentListing listing = segment::list_segments(
      directories, [&](const std::string&, std::uint64_t nonce) { return seen_.contains(nonce); });
  for (segment::FoundSegment& found : listing.segments) {
    seen_.insert(found.reader.identity().nonce);
    if (belongs_to(found.reader, id_)) {
      readers_.push_back(std::move(found.reader));
    }
  }
}

std::vector<ProcessView> RunSegments::read() const {
  std::vector<ProcessView> processes;
  for (const segment::SegmentReader& reader : readers_) {
    processes.push_back(view_of(reader.snapshot()));
  }
  return processes;
}

std::vector<std::string> RunSegments::remove(std::string_view keep) const {
  std::set<std::uint64_t> unwanted;
  for (const segment::SegmentReader& reader : readers_) {
    if (!stays_with(keep, reader)) {
      unwanted.insert(reader.identity().nonce);
    }
  }
  std::vector<std::string> failed;
  if (unwanted.empty()) {
    return failed;
  }
  segment::GcOptions options{.keep_for = std::chrono::seconds{0},
                             .keep_at_most = std::numeric_limits<std::size_t>::max()};
  options.is_meant = [&](std::uint64_t nonce) { return unwanted.contains(nonce); };
  const std::vector<std::string> directories{directory_};
  for (const segment::SkippedFile& file : segment::collect_garbage(directories, options).failed) {
    failed.push_back(fmt::format("{}: {}", file.path, file.reason));
  }
  return failed;
}

}  // namespace tidemark::viewer
