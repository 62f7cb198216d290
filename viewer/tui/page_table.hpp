// A table in a page: the columns of numbers that the width has room for, each row with a sentence beside or below.
// Pure.
#pragma once

#include "viewer/tui/page.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

struct PageTableRow {
  std::string name;
  std::vector<std::string> cells;  // numbers; the last ones drop out where there is no room
  std::string meaning{};
};

struct PageTable {
  std::vector<std::string> titles{};  // of the name, the cells and the meaning; empty: no title line
  std::vector<PageTableRow> rows;     // all with as many cells
};

void add_table(std::vector<PageLine>& lines, const PageTable& table, int width, Charset charset);

}  // namespace tidemark::viewer
