#include "viewer/tui/dashboard.hpp"

#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/tui/key_table.hpp"
#include "viewer/tui/process_table.hpp"
#include "viewer/tui/row_detail.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr int kMostDeviceLines = 4;

// Which screen rows belong to what, from the height alone.
struct Layout {
  int device_lines = 0;
  int table_top = 0;  // the title line of the table
  int table_rows = 0;
  int detail_top = 0;
  int detail_rows = 0;
  int footer = 0;
};

Layout layout_of(std::size_t devices, Size size) {
  Layout layout;
  layout.footer = size.rows - 1;
  layout.detail_rows = size.rows >= 16 ? kDetailRows : 0;
  layout.device_lines = size.rows >= 12 ? std::min(static_cast<int>(devices), kMostDeviceLines) : 0;
  layout.table_top = 1 + layout.device_lines;
  layout.detail_top = layout.footer - layout.detail_rows;
  layout.table_rows = layout.detail_top - layout.table_top - 1;
  return layout;
}

void draw_head(Canvas& canvas, const View& view, const DashboardState& state) {
  const auto alive = std::count_if(view.processes.begin(), view.processes.end(),
                                   [](const ProcessView& process) { return process.is_alive(); });
  const std::size_t dead = view.processes.size() - static_cast<std::size_t>(alive);
  std::vector<std::string> items{"tidemark", view.host, clock_text(view.time_ns, view.time_ns),
                                 fmt::format("{} live", alive)};
  const auto add_if_any = [&](std::size_t count, std::string_view what) {
    if (count > 0) {
      items.push_back(fmt::format("{} {}", count, what));
    }
  };
  add_if_any(dead, "dead");
  add_if_any(state.waiting, "not allocating yet");
  add_if_any(view.hidden.size(), "unreadable");
  items.push_back(fmt::format("every {:g} s", static_cast<double>(state.interval.count()) / 1000));
  put_items(canvas, 0, 0, items, Style::Title);
}

// Held against capacity, a device a line.
void draw_devices(Canvas& canvas, const std::vector<NodeDevice>& devices, const Layout& layout) {
  for (int i = 0; i < layout.device_lines; ++i) {
    const NodeDevice& device = devices[static_cast<std::size_t>(i)];
    const int row = 1 + i;
    const int width = canvas.size().columns;
    // From the right: the numbers are never what gives way, the name is.
    const std::string numbers = fmt::format("held {} of {}", size_column(device.held),
                                            device.capacity > 0 ? size_column(device.capacity) : "unknown  ");
    const int numbers_at = width - static_cast<int>(numbers.size());
    const int bar = std::clamp(width / 5, 12, 24);
    const int bar_at = numbers_at - bar - 2;
    const bool has_bar = bar_at > 24;
    // By the number the programs know it by, or by its uuid's beginning where they number differently.
    const std::string which =
        device.ordinal.empty() ? device.uuid.substr(0, device.uuid.find('-') + 9) : device.ordinal;
    const std::string name = fmt::format("{} {}", which, device.name);
    canvas.put(0, row, name, Style::Normal, (has_bar ? bar_at - 1 : numbers_at) - 1);
    if (has_bar) {
      canvas.put_glyph(bar_at - 1, row, U'[', Style::Dim);
      canvas.put_bar(bar_at, row, bar, device.held, device.capacity, load_style(device.held, device.capacity));
      canvas.put_glyph(bar_at + bar, row, U']', Style::Dim);
    }
    canvas.put(numbers_at, row, numbers);
  }
}

void draw_footer(Canvas& canvas, const DashboardState& state, int row) {
  if (!state.message.empty()) {
    canvas.put(0, row, state.message, state.message_is_error ? Style::Alarm : Style::Bold);
    return;
  }
  std::vector<std::string> items;
  for (const KeyBinding& binding : kKeyBindings) {
    const bool acts = binding.action == KeyAction::ResetPeak;
    if (!binding.footer.empty() && !(acts && state.readonly)) {
      items.push_back(fmt::format("{} {}", binding.name, binding.footer));
    }
  }
  put_items(canvas, 0, row, items, Style::Dim);
}

void draw_help(Canvas& canvas) {
  canvas.put(0, 0, "tidemark top: keys", Style::Title);
  int row = 2;
  for (const KeyBinding& binding : kKeyBindings) {
    canvas.put(2, row, binding.name, Style::Bold);
    canvas.put(12, row, binding.help);
    ++row;
  }
}

void draw_too_small(Canvas& canvas) {
  const Size size = canvas.size();
  canvas.put(0, 0, "terminal too small", Style::Bold);
  canvas.put(0, 1, fmt::format("have {}x{}", size.columns, size.rows));
  canvas.put(0, 2, fmt::format("need {}x{}", kSmallestScreen.columns, kSmallestScreen.rows));
}

std::size_t index_of(const std::vector<Row>& rows, const RowKey& key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.key() == key; });
  return static_cast<std::size_t>(found - rows.begin());
}

}  // namespace

std::vector<Row> rows_of(const View& view) {
  std::vector<Row> rows;
  for (const ProcessView& process : view.processes) {
    if (process.devices.empty()) {
      rows.push_back({.process = &process, .device = nullptr});
    }
    for (const DeviceView& device : process.devices) {
      rows.push_back({.process = &process, .device = &device});
    }
  }
  return rows;
}

std::size_t visible_rows(const View& view, Size size) {
  return static_cast<std::size_t>(std::max(0, layout_of(node_devices(view).size(), size).table_rows));
}

void move_selection(DashboardState& state, const View& view, std::ptrdiff_t by, Size size) {
  const std::vector<Row> rows = rows_of(view);
  if (rows.empty()) {
    state.selected = {};
    state.first_row = 0;
    return;
  }
  const auto last = static_cast<std::ptrdiff_t>(rows.size()) - 1;
  std::ptrdiff_t at = static_cast<std::ptrdiff_t>(index_of(rows, state.selected));
  if (at > last) {
    at = std::min(static_cast<std::ptrdiff_t>(state.selected_row), last);
  }
  at = std::clamp(at + by, std::ptrdiff_t{0}, last);
  state.selected_row = static_cast<std::size_t>(at);
  state.selected = rows[state.selected_row].key();
  const std::size_t window = std::max<std::size_t>(1, visible_rows(view, size));
  state.first_row = std::min(state.first_row, state.selected_row);
  state.first_row = std::max(state.first_row, state.selected_row >= window ? state.selected_row - window + 1 : 0);
  state.first_row = std::min(state.first_row, rows.size() > window ? rows.size() - window : 0);
}

Canvas draw_dashboard(const View& view, const DashboardState& state, Size size, Charset charset) {
  Canvas canvas(size, charset);
  if (size.columns < kSmallestScreen.columns || size.rows < kSmallestScreen.rows) {
    draw_too_small(canvas);
    return canvas;
  }
  if (state.help) {
    draw_help(canvas);
    return canvas;
  }
  const std::vector<NodeDevice> devices = node_devices(view);
  const std::vector<Row> rows = rows_of(view);
  const Layout layout = layout_of(devices.size(), size);
  draw_head(canvas, view, state);
  draw_devices(canvas, devices, layout);
  draw_process_table(canvas, rows, state, {.top = layout.table_top, .rows = layout.table_rows});
  const std::size_t selected = index_of(rows, state.selected);
  if (layout.detail_rows > 0 && selected < rows.size()) {
    draw_row_detail(canvas, rows[selected], view.time_ns, layout.detail_top);
  }
  draw_footer(canvas, state, layout.footer);
  return canvas;
}

}  // namespace tidemark::viewer
