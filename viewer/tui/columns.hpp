// The columns of the table of `top`: what is in them, how they are sorted, and which of them a width has room for.
// Pure.
#pragma once

#include "viewer/tui/rows.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

struct Column {
  ColumnId id;
  std::string_view title;
  int width;   // 0: what is left
  bool right;  // aligned
  int rank;    // 0: always there; the others come in this order while there is room
  std::string (*text)(const Row&, std::uint64_t now_ns);
  std::optional<std::uint64_t> (*number)(const Row&);  // to sort by; null: by its text
  bool falls;                                          // sorted from the largest
  std::string_view meaning;
};

[[nodiscard]] std::span<const Column, kColumnCount> all_columns();
[[nodiscard]] const Column& column_of(ColumnId id);

struct PlacedColumn {
  ColumnId id;
  int at = 0;
  int width = 0;
};

inline constexpr int kMarkColumns = 1;  // on the left of every row: is it tagged?

// From left to right, one blank between.
[[nodiscard]] std::vector<PlacedColumn> columns_for(int width);

// What a row's use is measured against: what it has reserved against the limit where there is one, since no more than
// that can it have; else what it holds against the device's memory. Nothing where neither is known.
struct Use {
  std::uint64_t part = 0;
  std::uint64_t whole = 0;
  bool of_limit = false;
};
[[nodiscard]] std::optional<Use> use_of(const Row& row);

// At most `width` digits: "9999999", "12M". Requires: `width` >= 4.
[[nodiscard]] std::string count_text(std::uint64_t count, std::size_t width);

}  // namespace tidemark::viewer
