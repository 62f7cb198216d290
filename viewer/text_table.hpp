// Columns of text as wide as their widest cell. Pure.
#pragma once

#include "viewer/clean_text.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tidemark::viewer {

enum class Align { Left, Right };

struct TableColumn {
  std::string title;
  Align align = Align::Left;
  unsigned spare = 0;  // where all don't fit: 1 is left out first, then 2, ...; 0 never
};

class TextTable {
 public:
  TextTable(std::vector<TableColumn> columns, Charset charset) : columns_(std::move(columns)), charset_(charset) {}

  // Requires: as many cells as columns. Cells are cleaned here.
  void add_row(const std::vector<std::string>& cells);

  // Title line and rows, two blanks between columns, no trailing blanks. `width` > 0: columns to spare are left out
  // until the last has room for a word, and the last is clipped there.
  [[nodiscard]] std::string text(std::size_t width = 0) const;

 private:
  [[nodiscard]] std::vector<std::size_t> shown(const std::vector<std::size_t>& widths, std::size_t width) const;

  std::vector<TableColumn> columns_;
  Charset charset_;
  std::vector<std::vector<std::u32string>> rows_;
};

}  // namespace tidemark::viewer
