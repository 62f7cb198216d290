// The named ranges of a process: what each name's peaks were, by device.
#pragma once

#include "viewer/model/view.hpp"

#include "shared/ranges/row.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

struct NamedRange {
  std::string name;
  std::string device;  // "cuda:0"; empty: none that the process shows
  ranges::RowValues values;
  bool approximate = false;
};

inline constexpr std::string_view kRangeSortKeys = "added, allocated, reserved, times, name";

// In the order of their first end; none: no range has ended there, or none is measured. Throws Failure where there is a
// table that can't be read. Requires: the process has a reader.
[[nodiscard]] std::vector<NamedRange> read_ranges(const ProcessView& process);

// Largest first; names by their letters. Equal ones stay as they are. Throws Failure{Usage} for a word that is none of
// kRangeSortKeys.
void sort_ranges(std::vector<NamedRange>& ranges, std::string_view key);

}  // namespace tidemark::viewer
