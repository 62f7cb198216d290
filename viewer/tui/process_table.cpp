#include "viewer/tui/process_table.hpp"

#include "viewer/render/ps_text.hpp"
#include "viewer/tui/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tidemark::viewer {
namespace {

constexpr int kUseBar = 8;  // of the column's 14; then a blank and the share

void put_cell(Canvas& canvas, int row, const PlacedColumn& place, std::string_view text, Style style) {
  const Column& column = column_of(place.id);
  const auto width = static_cast<int>(columns_of(clean_points(text, canvas.charset())));
  if (column.width == 0) {
    canvas.put(place.at, row, text, style, place.width);
  } else if (width > place.width) {
    canvas.put(place.at, row, "?", style);  // half a number would be another one
  } else if (column.right) {
    canvas.put_right(place.at + place.width, row, text, style);
  } else {
    canvas.put(place.at, row, text, style);
  }
}

// `style` is the row's where that is a mark of its own, which colours would hide.
void put_use(Canvas& canvas, int row, const PlacedColumn& place, const Row& data, Style style) {
  const std::string text = column_of(ColumnId::Use).text(data, 0);
  if (const auto use = use_of(data)) {
    const Style bar = style == Style::Normal ? load_style(use->part, use->whole) : style;
    canvas.put_bar(place.at, row, kUseBar, use->part, use->whole, bar);
  }
  canvas.put_right(place.at + place.width, row, text, style);
}

void draw_titles(Canvas& canvas, const std::vector<PlacedColumn>& columns, const UiState& state, int row) {
  canvas.fill_row(row, Style::Header);
  for (const PlacedColumn& place : columns) {
    put_cell(canvas, row, place, column_of(place.id).title, Style::Header);
    if (state.choice.sort == place.id && !state.choice.tree) {
      const bool falls = column_of(place.id).falls != state.choice.inverted;
      const bool ascii = canvas.charset() == Charset::Ascii;
      canvas.put_glyph(place.at - 1, row, falls ? (ascii ? U'v' : U'▼') : (ascii ? U'^' : U'▲'), Style::Header);
    }
  }
}

std::string title_text(const Row& row, Charset charset, bool has_state_column) {
  std::string text = row.branch ? branch_text(*row.branch, charset, row.is_first) : "";
  const segment::ProcessState state = row.process->snapshot.state;
  if (!has_state_column && state != segment::ProcessState::Live) {
    text += fmt::format("({}) ", to_text(state));
  }
  return text + row.process->title();
}

Style style_of(const Row& row, const UiState& state) {
  if (row.key() == state.selected) {
    return Style::Selected;
  }
  if (state.tags.contains(row.key())) {
    return Style::Bold;
  }
  return row.process->is_alive() ? Style::Normal : Style::Dim;
}

}  // namespace

Style load_style(std::uint64_t part, std::uint64_t whole) {
  const double share = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.1 ? Style::Light : share < 0.8 ? Style::Moderate : Style::Heavy;
}

void draw_process_table(Canvas& canvas, const std::vector<Row>& rows, const UiState& state, TableWindow window,
                        std::uint64_t now_ns) {
  const std::vector<PlacedColumn> columns = columns_for(canvas.size().columns);
  const bool has_state_column = std::any_of(columns.begin(), columns.end(),
                                            [](const PlacedColumn& place) { return place.id == ColumnId::State; });
  draw_titles(canvas, columns, state, window.top);
  if (rows.empty()) {
    canvas.put(
        0, window.top + 1,
        state.choice.filter.empty() ? "nothing yet; start one: tidemark run -- CMD" : "no row matches the filter",
        Style::Dim);
    return;
  }
  for (int i = 0; i < window.rows; ++i) {
    const std::size_t index = state.first_row + static_cast<std::size_t>(i);
    if (index >= rows.size()) {
      break;
    }
    const Row& row = rows[index];
    const Style style = style_of(row, state);
    const int at = window.top + 1 + i;
    canvas.fill_row(at, style);
    if (state.tags.contains(row.key())) {
      canvas.put_glyph(0, at, U'*', style);
    }
    for (const PlacedColumn& place : columns) {
      if (place.id == ColumnId::Use) {
        put_use(canvas, at, place, row, style);
      } else if (place.id == ColumnId::Title) {
        put_cell(canvas, at, place, title_text(row, canvas.charset(), has_state_column), style);
      } else {
        put_cell(canvas, at, place, column_of(place.id).text(row, now_ns), style);
      }
    }
  }
}

}  // namespace tidemark::viewer
