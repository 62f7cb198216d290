// The segments of all processes of one run, dead or alive, known by the id that the run gave them.
#pragma once

#include "viewer/model/view.hpp"

#include "shared/segment/reader.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::viewer {

class RunSegments {
 public:
  RunSegments(std::string directory, std::string id) : directory_(std::move(directory)), id_(std::move(id)) {}

  // Finds those that are new. They are held open: another viewer's sweep may remove files of dead processes meanwhile.
  void look();

  // Their numbers now, in order of creation.
  [[nodiscard]] std::vector<ProcessView> read() const;

  // Removes the files of those that have ended, as `keep` (TIDEMARK_KEEP) would have had it. Returns what could not be
  // removed, each with its reason.
  [[nodiscard]] std::vector<std::string> remove(std::string_view keep) const;

 private:
  std::string directory_;
  std::string id_;
  std::vector<segment::SegmentReader> readers_;
  std::set<std::uint64_t> seen_;  // nonces, also of segments of others
};

}  // namespace tidemark::viewer
