// A viewer's side of a table of ranges. Read-only, and trusts no byte, as shared/segment/reader.hpp: copies with pread,
// checks every number, cleans every text.
//
// Threads: one at a time for each reader. Errors: NotFound, PermissionDenied, BadFormat (not such a table, damaged, or
// another process's), WrongVersion, System.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/ranges/row.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/reader.hpp"

namespace tidemark::ranges {

struct Row {
  std::string name;          // cleaned; may be the same as another's
  std::uint32_t device = 0;  // DeviceSnapshot::slot; may be none of the process's
  RowValues values;
  bool approximate = false;  // its writer stood still, or was killed, in the middle of a change
};

class TableReader {
 public:
  // NotFound: no range has ended there yet, or none is measured.
  [[nodiscard]] static Result<TableReader> beside(const segment::SegmentReader& segment);

  // In the order of their first end. Each is consistent by itself.
  [[nodiscard]] std::vector<Row> rows(const segment::ReadBudget& budget = {}) const;

 private:
  TableReader() = default;

  segment::FileHandle file_;
};

}  // namespace tidemark::ranges
