#include "viewer/tui/dashboard.hpp"

#include "viewer/number_text.hpp"
#include "viewer/tui/detail_page.hpp"
#include "viewer/tui/device_lines.hpp"
#include "viewer/tui/device_page.hpp"
#include "viewer/tui/footer.hpp"
#include "viewer/tui/graph.hpp"
#include "viewer/tui/help_page.hpp"
#include "viewer/tui/layout.hpp"
#include "viewer/tui/process_table.hpp"
#include "viewer/tui/row_detail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

void draw_head(Canvas& canvas, const Sample& sample, const UiState& state, std::size_t shown) {
  const View& view = sample.view;
  const auto alive = std::count_if(view.processes.begin(), view.processes.end(),
                                   [](const ProcessView& process) { return process.is_alive(); });
  const std::size_t dead = view.processes.size() - static_cast<std::size_t>(alive);
  std::vector<std::string> items{"tidemark"};
  if (state.paused) {
    items.emplace_back("PAUSED");
  }
  items.insert(items.end(), {view.host, clock_text(view.time_ns, view.time_ns), fmt::format("{} live", alive)});
  const auto add_if_any = [&](std::size_t count, std::string_view what) {
    if (count > 0) {
      items.push_back(fmt::format("{} {}", count, what));
    }
  };
  if (!state.choice.filter.empty()) {
    items.push_back(fmt::format("{} with '{}'", shown, state.choice.filter));
  }
  add_if_any(state.tags.size(), "tagged");
  add_if_any(dead, "dead");
  add_if_any(sample.waiting, "not allocating yet");
  add_if_any(view.hidden.size(), "unreadable");
  items.push_back(fmt::format("every {:g} s", static_cast<double>(state.interval.count()) / 1000));
  put_items(canvas, 0, 0, items, Style::Title);
}

void draw_too_small(Canvas& canvas) {
  const Size size = canvas.size();
  canvas.put(0, 0, "terminal too small", Style::Bold);
  const auto say = [&](int row, std::string_view what, Size which) {
    put_items(canvas, 0, row, {fmt::format("{} {}x{}", what, which.columns, which.rows)});
  };
  say(1, "have", size);
  say(2, "need", kSmallestScreen);
}

const MarkedPeak* mark_of(const Sample& sample, const RowKey& key) {
  const auto mark = std::find_if(sample.marks.begin(), sample.marks.end(),
                                 [&](const MarkedPeak& marked) { return marked.key == key; });
  return mark == sample.marks.end() ? nullptr : &*mark;
}

}  // namespace

std::size_t visible_rows(const View& view, Size size) {
  return static_cast<std::size_t>(std::max(0, layout_of(node_devices(view).size(), size).table_rows));
}

std::optional<Page> page_on_top(const Sample& sample, const UiState& state, Size size) {
  if (state.help) {
    return help_page(size.columns);
  }
  if (state.detail) {
    return detail_page(sample.view, *state.detail, size.columns, state.charset);
  }
  if (state.devices) {
    return device_page(sample.view, size.columns, state.charset);
  }
  return std::nullopt;
}

Canvas draw_dashboard(const Sample& sample, std::span<const HistoryPoint> history, const UiState& state, Size size) {
  Canvas canvas(size, state.charset);
  if (size.columns < kSmallestScreen.columns || size.rows < kSmallestScreen.rows) {
    draw_too_small(canvas);
    return canvas;
  }
  if (const auto page = page_on_top(sample, state, size)) {
    draw_page(canvas, *page, state.scroll);
    draw_footer(canvas, state, size.rows - 1);
    return canvas;
  }
  const std::vector<NodeDevice> devices = node_devices(sample.view);
  const std::vector<Row> rows = rows_of(sample.view, state.choice, sample.parents);
  const Layout layout = layout_of(devices.size(), size);
  draw_head(canvas, sample, state, rows.size());
  draw_device_lines(canvas, devices, layout.device_top, layout.device_lines);
  draw_process_table(canvas, rows, state, {.top = layout.table_top, .rows = layout.table_rows}, sample.view.time_ns);
  const auto selected = index_of(rows, state.selected);
  if (layout.detail_rows > 0 && selected) {
    draw_row_detail(canvas, rows[*selected], mark_of(sample, state.selected), sample.view.time_ns, layout.detail_top);
  }
  if (selected && rows[*selected].device != nullptr) {
    draw_graph(canvas, history, {.now_ns = sample.looked_at_ns, .a_dot = state.interval}, state.graph,
               {.top = layout.graph_top, .rows = layout.graph_rows});
  }
  draw_footer(canvas, state, layout.footer);
  return canvas;
}

}  // namespace tidemark::viewer
