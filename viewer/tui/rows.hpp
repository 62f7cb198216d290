// The rows of `top`: a process and device each, those that the user wants and in the order that he wants. Pure.
#pragma once

#include "viewer/model/tree.hpp"
#include "viewer/model/view.hpp"

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// What a row stands for; stays the same while rows come and go.
struct RowKey {
  std::string id;
  std::string device;  // "cuda:0"; empty for a process without devices

  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

struct Row {
  const ProcessView* process = nullptr;
  const DeviceView* device = nullptr;             // null: the process has none yet
  std::optional<TreeLine> branch = std::nullopt;  // its place, where rows are drawn as a tree
  bool is_first = true;                           // of its process

  [[nodiscard]] RowKey key() const { return {process->id(), device != nullptr ? device->name : ""}; }
};

// The columns of the table, from left to right.
enum class ColumnId : std::size_t {
  Id,
  Pid,
  Device,
  State,
  Held,
  Allocated,
  Peak,
  Since,
  Reserved,
  Cached,
  Use,
  HitRate,
  Retries,
  Ooms,
  Title,
};
inline constexpr std::size_t kColumnCount = 15;

struct RowChoice {
  std::string filter;                           // only rows that match it; empty: all
  std::optional<ColumnId> sort = std::nullopt;  // none: in the order of their first allocations, as `ps`
  bool inverted = false;
  bool tree = false;  // children behind their parents; nothing is sorted then
};

// As parents_of() says; empty: not looked up.
using Parents = std::vector<std::optional<std::size_t>>;

// The pointers live as long as `view`.
[[nodiscard]] std::vector<Row> rows_of(const View& view, const RowChoice& choice = {}, const Parents& parents = {});

// Is the text in what one reads in the row (id, pid, device, state, label and command), in whatever case?
[[nodiscard]] bool matches(const Row& row, std::string_view text);

[[nodiscard]] std::optional<std::size_t> index_of(const std::vector<Row>& rows, const RowKey& key);

}  // namespace tidemark::viewer
