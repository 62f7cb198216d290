#include "viewer/tui/selection.hpp"

#include <algorithm>

namespace tidemark::viewer {

void select_row(UiState& state, const std::vector<Row>& rows, std::size_t index, std::size_t window) {
  if (rows.empty()) {
    state.selected = {};
    state.first_row = 0;
    return;
  }
  window = std::max<std::size_t>(1, window);
  state.selected_row = std::min(index, rows.size() - 1);
  state.selected = rows[state.selected_row].key();
  state.first_row = std::min(state.first_row, state.selected_row);
  state.first_row = std::max(state.first_row, state.selected_row >= window ? state.selected_row - window + 1 : 0);
  state.first_row = std::min(state.first_row, rows.size() > window ? rows.size() - window : 0);
}

void move_selection(UiState& state, const std::vector<Row>& rows, std::ptrdiff_t by, std::size_t window) {
  if (rows.empty()) {
    select_row(state, rows, 0, window);
    return;
  }
  const auto last = static_cast<std::ptrdiff_t>(rows.size()) - 1;
  const auto at = static_cast<std::ptrdiff_t>(
      index_of(rows, state.selected).value_or(std::min(state.selected_row, rows.size() - 1)));
  select_row(state, rows, static_cast<std::size_t>(std::clamp(at + by, std::ptrdiff_t{0}, last)), window);
}

std::optional<std::size_t> find_row(const std::vector<Row>& rows, std::string_view text, std::size_t from,
                                    Direction direction) {
  for (std::size_t step = 0; step < rows.size(); ++step) {
    const std::size_t at =
        direction == Direction::Forward ? (from + step) % rows.size() : (from + rows.size() - step) % rows.size();
    if (matches(rows[at], text)) {
      return at;
    }
  }
  return std::nullopt;
}

std::vector<RowKey> chosen_rows(const UiState& state, const View& view) {
  std::vector<RowKey> chosen;
  const RowKey only = state.detail.value_or(state.selected);
  const bool tagged = !state.detail && !state.tags.empty();
  for (const Row& row : rows_of(view)) {
    if (tagged ? state.tags.contains(row.key()) : row.key() == only) {
      chosen.push_back(row.key());
    }
  }
  return chosen;
}

void drop_lost_tags(UiState& state, const View& view) {
  if (state.tags.empty()) {
    return;
  }
  std::set<RowKey> kept;
  for (const Row& row : rows_of(view)) {
    if (state.tags.contains(row.key())) {
      kept.insert(row.key());
    }
  }
  state.tags = std::move(kept);
}

}  // namespace tidemark::viewer
