// The live screen as a pure function from what there is, what the user has chosen, and the size, to a grid of cells.
#pragma once

#include "viewer/model/view.hpp"
#include "viewer/tui/canvas.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

// What a row stands for; stays the same while rows come and go.
struct RowKey {
  std::string id;
  std::string device;  // "cuda:0"; empty for a process without devices

  friend bool operator==(const RowKey&, const RowKey&) = default;
};

struct Row {
  const ProcessView* process = nullptr;
  const DeviceView* device = nullptr;  // null: the process has none yet

  [[nodiscard]] RowKey key() const { return {process->id(), device != nullptr ? device->name : ""}; }
};

// One row a process and device, as in `ps`. The pointers live as long as `view`.
[[nodiscard]] std::vector<Row> rows_of(const View& view);

struct DashboardState {
  RowKey selected;
  std::size_t selected_row = 0;  // where it was last: its neighbour takes over when it goes away
  std::size_t first_row = 0;     // of the table's window
  std::chrono::milliseconds interval{1000};
  std::size_t waiting = 0;  // processes with the library and no allocation yet
  bool readonly = false;
  bool help = false;
  std::string message;  // the effect of the last key; empty: the keys are shown
  bool message_is_error = false;
};

inline constexpr Size kSmallestScreen{36, 6};

// How many table rows a screen of this size shows.
[[nodiscard]] std::size_t visible_rows(const View& view, Size size);

// Moves the selection by `by` rows (clamped) from where it is now; a selected row that went away is replaced by its
// neighbour. Keeps it inside the window.
void move_selection(DashboardState& state, const View& view, std::ptrdiff_t by, Size size);

[[nodiscard]] Canvas draw_dashboard(const View& view, const DashboardState& state, Size size, Charset charset);

}  // namespace tidemark::viewer
