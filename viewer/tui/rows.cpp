#include "viewer/tui/rows.hpp"

#include "viewer/tui/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tidemark::viewer {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// What a row is sorted by. Unknown comes last, whichever way round the rest is.
struct SortKey {
  bool is_known = false;
  std::uint64_t number = 0;
  std::string text;
  std::size_t place = 0;  // in the rows as they came; equal rows stay in that order
};

SortKey sort_key(const Row& row, const Column& column, std::size_t place) {
  if (column.number == nullptr) {
    return {.is_known = true, .number = 0, .text = lower(column.text(row, 0)), .place = place};
  }
  const auto number = column.number(row);
  return {.is_known = number.has_value(), .number = number.value_or(0), .text = {}, .place = place};
}

void sort_rows(std::vector<Row>& rows, ColumnId by, bool inverted) {
  const Column& column = column_of(by);
  const bool falls = column.falls != inverted;
  std::vector<SortKey> keys;
  keys.reserve(rows.size());
  for (const Row& row : rows) {
    keys.push_back(sort_key(row, column, keys.size()));
  }
  std::sort(keys.begin(), keys.end(), [falls](const SortKey& a, const SortKey& b) {
    if (a.is_known != b.is_known) {
      return a.is_known;
    }
    const auto order = a.number != b.number ? a.number <=> b.number : a.text.compare(b.text) <=> 0;
    if (order == 0) {
      return a.place < b.place;
    }
    return falls ? order > 0 : order < 0;
  });
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const SortKey& key : keys) {
    sorted.push_back(std::move(rows[key.place]));
  }
  rows = std::move(sorted);
}

}  // namespace

bool matches(const Row& row, std::string_view text) {
  const std::string all = fmt::format("{} {} {} {} {}", row.process->id(), row.process->pid(),
                                      row.device != nullptr ? row.device->name : "",
                                      to_text(row.process->snapshot.state), row.process->title());
  return lower(all).find(lower(std::string{text})) != std::string::npos;
}

std::vector<Row> rows_of(const View& view, const RowChoice& choice, const Parents& parents) {
  std::vector<Row> rows;
  const auto add = [&](Row row) {
    if (choice.filter.empty() || matches(row, choice.filter)) {
      rows.push_back(std::move(row));
    }
  };
  const auto add_process = [&](const ProcessView& process, const std::optional<TreeLine>& branch) {
    if (process.devices.empty()) {
      add({.process = &process, .device = nullptr, .branch = branch});
    }
    for (const DeviceView& device : process.devices) {
      add({.process = &process, .device = &device, .branch = branch, .is_first = &device == process.devices.data()});
    }
  };
  if (choice.tree && parents.size() == view.processes.size()) {
    for (const TreeLine& line : tree_of(parents)) {
      add_process(view.processes[line.process], line);
    }
    return rows;
  }
  for (const ProcessView& process : view.processes) {
    add_process(process, std::nullopt);
  }
  if (choice.sort && !choice.tree) {
    sort_rows(rows, *choice.sort, choice.inverted);
  }
  return rows;
}

std::optional<std::size_t> index_of(const std::vector<Row>& rows, const RowKey& key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.key() == key; });
  return found == rows.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - rows.begin())};
}

}  // namespace tidemark::viewer
