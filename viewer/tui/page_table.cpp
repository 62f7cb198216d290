#include "viewer/tui/page_table.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr int kIndent = 2;
constexpr int kGap = 2;
constexpr int kMeaningIndent = 6;      // below its row
constexpr int kNarrowestMeaning = 36;  // beside it

int columns_in(std::string_view text, Charset charset) {
  return static_cast<int>(columns_of(clean_points(text, charset)));
}

struct Columns {
  int name = 0;
  std::vector<int> cells;  // those that fit
  int meaning_at = 0;
  bool is_meaning_beside = false;
};

Columns measure(const PageTable& table, int width, Charset charset) {
  Columns columns;
  const auto widen = [&](const std::string& name, const auto& first_cell, std::size_t cells) {
    columns.name = std::max(columns.name, columns_in(name, charset));
    columns.cells.resize(std::max(columns.cells.size(), cells));
    for (std::size_t i = 0; i < cells; ++i) {
      columns.cells[i] = std::max(columns.cells[i], columns_in(first_cell[i], charset));
    }
  };
  if (!table.titles.empty()) {
    widen(table.titles.front(), &table.titles[1], table.titles.size() - 2);
  }
  for (const PageTableRow& row : table.rows) {
    widen(row.name, row.cells.data(), row.cells.size());
  }
  const auto end = [&] {
    int at = kIndent + columns.name;
    for (const int cell : columns.cells) {
      at += kGap + cell;
    }
    return at;
  };
  while (columns.cells.size() > 1 && end() > width) {
    columns.cells.pop_back();
  }
  // A name may be cut, a number never.
  columns.name = std::max(0, columns.name - std::max(0, end() - width));
  columns.meaning_at = end() + kGap;
  columns.is_meaning_beside = columns.meaning_at + kNarrowestMeaning <= width;
  return columns;
}

PageLine line_of(const std::string& name, const std::string* cells, const Columns& columns, Charset charset,
                 Style style) {
  PageLine line;
  const auto room = static_cast<std::size_t>(columns.name);
  line.push_back(
      {.column = kIndent, .text = encode_utf8(clip(clean_points(name, charset), room, charset)), .style = style});
  int at = kIndent + columns.name;
  for (std::size_t i = 0; i < columns.cells.size(); ++i) {
    at += kGap + columns.cells[i];
    line.push_back({.column = at - columns_in(cells[i], charset), .text = cells[i], .style = style});
  }
  return line;
}

}  // namespace

void add_table(std::vector<PageLine>& lines, const PageTable& table, int width, Charset charset) {
  const Columns columns = measure(table, width, charset);
  if (!table.titles.empty()) {
    PageLine titles = line_of(table.titles.front(), &table.titles[1], columns, charset, Style::Bold);
    if (columns.is_meaning_beside) {
      titles.push_back({.column = columns.meaning_at, .text = table.titles.back(), .style = Style::Bold});
    }
    lines.push_back(std::move(titles));
  }
  for (const PageTableRow& row : table.rows) {
    PageLine line = line_of(row.name, row.cells.data(), columns, charset, Style::Normal);
    if (row.meaning.empty()) {
      lines.push_back(std::move(line));
      continue;
    }
    std::vector<PageLine> meaning;
    add_paragraph(meaning, row.meaning, width, columns.is_meaning_beside ? columns.meaning_at : kMeaningIndent, 0,
                  Style::Dim);
    if (columns.is_meaning_beside) {
      meaning.front().insert(meaning.front().begin(), line.begin(), line.end());
    } else {
      lines.push_back(std::move(line));
    }
    lines.insert(lines.end(), meaning.begin(), meaning.end());
  }
}

}  // namespace tidemark::viewer
