// The host process's side of its table of ranges: makes the file beside its segment, and keeps it up to date.
//
// Threads: one at a time for everything here. Errors: as SegmentWriter; Unsupported: the segment has no name to lie
// beside (a memfd). It is large (paths, sequences): not for a stack. All space is taken beforehand: a full disk is an
// error here and no SIGBUS later. Fork: the mapping is not inherited, as a segment's.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/base/result.hpp"
#include "shared/ranges/layout.hpp"
#include "shared/ranges/row.hpp"
#include "shared/segment/file_beside.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/text.hpp"

namespace tidemark::ranges {

class TableWriter {
 public:
  TableWriter() = default;
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // Once. `segment_path` is the counters' file, whose directory, owner and mode the table gets too.
  [[nodiscard]] Status create(const char* segment_path, std::uint64_t nonce) noexcept;

  // The next row. Requires: create() succeeded, fewer than kRows were added. What of the name doesn't fit is cut off.
  void add(std::string_view name, std::uint32_t device, const RowValues& values) noexcept;
  // Requires: `row` was added; the first one is 0.
  void set(std::size_t row, const RowValues& values) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  // If the name still leads to what create() made.
  void remove_file() const noexcept { file_.remove(); }

 private:
  [[nodiscard]] Status fill(int fd, std::uint64_t nonce) noexcept;
  [[nodiscard]] RowRecord& row(std::size_t number) const noexcept;
  void store(RowRecord& record, const RowValues& values) noexcept;

  segment::FileBeside file_;
  segment::Mapping mapping_;  // holds the lock
  Head* head_ = nullptr;
  std::size_t count_ = 0;
  std::array<std::uint64_t, kRows> sequences_{};
};

}  // namespace tidemark::ranges
