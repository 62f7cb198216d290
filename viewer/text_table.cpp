#include "viewer/text_table.hpp"

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

void TextTable::add_row(const std::vector<std::string>& cells) {
  std::vector<std::u32string> row;
  for (const std::string& cell : cells) {
    row.push_back(clean_points(cell, charset_));
  }
  rows_.push_back(std::move(row));
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
  std::u32string text;
  for (const auto& row : all) {
    std::u32string line;
    std::size_t used = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
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
