#include "viewer/tui/process_table.hpp"

#include "viewer/render/ps_text.hpp"
#include "viewer/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

constexpr int kNarrowestTitle = 16;  // the last column takes what is left, and needs that much

struct Column {
  std::string_view title;
  int width;
  bool right;
  int rank;  // 0: always there; the others come in this order while there is room
  std::string (*text)(const Row&);
};

template <auto Member>
std::string size_of(const Row& row) {
  return row.device == nullptr ? "-" : size_column(row.device->figures.*Member);
}

constexpr std::array<Column, 11> kColumns{{
    {"ID", 8, false, 5, [](const Row& row) { return row.process->id(); }},
    {"PID", 7, true, 0, [](const Row& row) { return fmt::format("{}", row.process->pid()); }},
    {"DEVICE", 8, false, 0, [](const Row& row) { return row.device == nullptr ? "-" : row.device->name; }},
    {"STATE", 7, false, 3, [](const Row& row) { return std::string{to_text(row.process->snapshot.state)}; }},
    {"ALLOCATED", 9, true, 0, size_of<&Figures::allocated>},
    {"PEAK", 9, true, 0, size_of<&Figures::allocated_peak>},
    {"RESERVED", 9, true, 2, size_of<&Figures::reserved>},
    {"CACHED", 9, true, 4, size_of<&Figures::cached>},
    {"HELD", 9, true, 6, size_of<&Figures::held>},
    {"HIT%", 5, true, 1,
     [](const Row& row) { return row.device == nullptr ? "-" : percent_text(row.device->figures.hit_percent); }},
    {"LABEL/COMMAND", 0, false, 0, [](const Row& row) { return row.process->title(); }},
}};

// Which columns there is room for. The title column is among them if it has kNarrowestTitle left.
std::array<bool, kColumns.size()> chosen_columns(int width) {
  std::array<bool, kColumns.size()> chosen{};
  int used = -1;
  for (std::size_t i = 0; i + 1 < kColumns.size(); ++i) {
    if (kColumns[i].rank == 0) {
      chosen[i] = true;
      used += kColumns[i].width + 1;
    }
  }
  if (used + 1 + kNarrowestTitle <= width) {
    chosen.back() = true;
    used += 1 + kNarrowestTitle;
  }
  for (int rank = 1; rank <= static_cast<int>(kColumns.size()); ++rank) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (kColumns[i].rank == rank && used + 1 + kColumns[i].width <= width) {
        chosen[i] = true;
        used += kColumns[i].width + 1;
      }
    }
  }
  return chosen;
}

template <class TextOf>
void draw_line(Canvas& canvas, int row, Style style, const TextOf& text_of) {
  const auto chosen = chosen_columns(canvas.size().columns);
  int at = 0;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (!chosen[i]) {
      continue;
    }
    const Column& column = kColumns[i];
    const std::string text = text_of(column);
    if (column.width == 0) {
      canvas.put(at, row, text, style);
    } else if (column.right && text.size() <= static_cast<std::size_t>(column.width)) {
      canvas.put_right(at + column.width, row, text, style);
    } else {
      canvas.put(at, row, text, style, column.width);
    }
    at += column.width + 1;
  }
}

}  // namespace

Style load_style(std::uint64_t part, std::uint64_t whole) {
  const double share = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.1 ? Style::Light : share < 0.8 ? Style::Moderate : Style::Heavy;
}

void put_items(Canvas& canvas, int column, int row, const std::vector<std::string>& items, Style style) {
  for (const std::string& item : items) {
    const auto width = static_cast<int>(columns_of(clean_points(item, canvas.charset())));
    if (column + width > canvas.size().columns) {
      break;
    }
    column = canvas.put(column, row, item, style) + 2;
  }
}

void draw_process_table(Canvas& canvas, const std::vector<Row>& rows, const DashboardState& state, TableWindow window) {
  canvas.fill_row(window.top, Style::Header);
  draw_line(canvas, window.top, Style::Header, [](const Column& column) { return std::string{column.title}; });
  if (rows.empty()) {
    canvas.put(0, window.top + 1, "nothing yet; start one: tidemark run -- CMD", Style::Dim);
    return;
  }
  for (int i = 0; i < window.rows; ++i) {
    const std::size_t index = state.first_row + static_cast<std::size_t>(i);
    if (index >= rows.size()) {
      break;
    }
    const Row& row = rows[index];
    const bool selected = row.key() == state.selected;
    const Style style = selected ? Style::Selected : row.process->is_alive() ? Style::Normal : Style::Dim;
    const int at = window.top + 1 + i;
    canvas.fill_row(at, style);
    draw_line(canvas, at, style, [&](const Column& column) { return column.text(row); });
  }
}

}  // namespace tidemark::viewer
