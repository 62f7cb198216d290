// A viewer's side of a history. Read-only, and trusts no byte, as shared/segment/reader.hpp: copies with pread, checks
// every number, cleans every text.
//
// Threads: one at a time for each reader. Errors: NotFound, PermissionDenied, BadFormat (not a history, damaged),
// WrongVersion, System.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.hpp"
#include "shared/history/history.hpp"
#include "shared/history/word_file.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::history {

class HistoryReader {
 public:
  // A `.hist` or a saved snapshot. A symbolic link to a `.hist` is refused, as a segment's is.
  [[nodiscard]] static Result<HistoryReader> open(const std::string& path);
  // The history beside a segment; NotFound: the process doesn't record. BadFormat also for another process's.
  [[nodiscard]] static Result<HistoryReader> beside(const segment::SegmentReader& segment);

  // What is recorded, and how much was lost: a few reads.
  [[nodiscard]] Recording recording() const;

  // Everything. While its process writes, a device's part is read again, up to the budget, until nothing changed
  // meanwhile; then it is approximate. A dead process's is exact: the one event that may have been under way is
  // completed.
  [[nodiscard]] Result<History> read(const segment::ReadBudget& budget = {}) const;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  HistoryReader() = default;

  WordFile file_;
  std::string path_;
};

}  // namespace tidemark::history
