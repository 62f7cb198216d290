#include "viewer/text_table.hpp"

#include <algorithm>
#include <numeric>

namespace tidemark::viewer {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kWord = 12;  // of the last column, before others give way to it

}  // namespace

void TextTable::add_row(const std::vector<std::string>& cells) {
  std::vector<std::u32string> row;
  for (const std::string& cell : cells) {
    row.push_back(clean_points(cell, charset_));
  }
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> TextTable::shown(const std::vector<std::size_t>& widths, std::size_t width) const {
  std::vector<std::size_t> columns(columns_.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  const auto wanted = [&] {
    std::size_t sum = std::min(widths.back(), kWord);
    for (const std::size_t column : columns) {
      sum += column + 1 == widths.size() ? 0 : widths[column] + kGap;
    }
    return sum;
  };
  for (unsigned rank = 1; width > 0 && rank <= columns_.size() && wanted() > width; ++rank) {
    std::erase_if(columns, [&](std::size_t column) { return columns_[column].spare == rank; });
  }
  return columns;
}

std::string TextTable::text(std::size_t width) const {
  std::vector<std::vector<std::u32string>> all(1);
  for (const TableColumn& column : columns_) {
    all[0].push_back(clean_points(column.title, charset_));
  }
  all.insert(all.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : all) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  const std::vector<std::size_t> shown_columns = shown(widths, width);
  std::u32string text;
  for (const auto& row : all) {
    std::u32string line;
    std::size_t used = 0;
    for (const std::size_t i : shown_columns) {
      std::u32string cell = row[i];
      if (i + 1 == row.size() && width > used) {
        cell = clip(cell, width - used, charset_);
      }
      const std::u32string padding(widths[i] - std::min(widths[i], columns_of(cell)), U' ');
      line += columns_[i].align == Align::Right ? padding + cell : cell + padding;
      line += std::u32string(kGap, U' ');
      used += widths[i] + kGap;
    }
    line.erase(line.find_last_not_of(U' ') + 1);
    text += line + U'\n';
  }
  return encode_utf8(text);
}

}  // namespace tidemark::viewer
