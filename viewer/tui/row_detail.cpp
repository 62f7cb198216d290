#include "viewer/tui/row_detail.hpp"

#include "viewer/number_text.hpp"
#include "viewer/render/ps_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/tui/process_table.hpp"

#include "shared/segment/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tidemark::viewer {
namespace {

constexpr int kNameColumns = 11;
constexpr int kRemarkColumns = 20;  // "of 8.000 GiB (limit)", "since 14:12:20"
constexpr int kShortestBar = 8;
constexpr int kLongestBar = 60;
constexpr int kBarAt = kNameColumns + static_cast<int>(kSizeColumns) + 1;

void draw_title(Canvas& canvas, const Row& row, int at) {
  canvas.fill_row(at, Style::Header);
  std::string title = fmt::format("{} {}", row.process->pid(), row.process->title());
  if (row.device != nullptr) {
    title = fmt::format("{} {} {} {}", row.process->pid(), row.device->name, row.device->snapshot.info.name.view(),
                        row.process->title());
  }
  canvas.put(0, at, title, Style::Header);
}

// All bars of a screen are equally long, so that they compare.
int bar_columns(int columns) {
  const int beside_remark = columns - kBarAt - 1 - kRemarkColumns;
  return std::min(beside_remark >= kShortestBar ? beside_remark : columns - kBarAt, kLongestBar);
}

void draw_bar_line(Canvas& canvas, int at, std::string_view name, std::uint64_t bytes, std::uint64_t whole,
                   std::string_view remark) {
  canvas.put(0, at, name);
  canvas.put(kNameColumns, at, size_column(bytes));
  const int width = bar_columns(canvas.size().columns);
  canvas.put_bar(kBarAt, at, width, bytes, whole, load_style(bytes, whole));
  put_items(canvas, kBarAt + width + 1, at, {std::string{remark}}, Style::Dim);
}

std::string count(std::int64_t value) { return grouped(value); }

}  // namespace

void draw_row_detail(Canvas& canvas, const Row& row, const MarkedPeak* mark, std::uint64_t now_ns, int top) {
  draw_title(canvas, row, top);
  if (row.device == nullptr) {
    canvas.put(0, top + 1, "no device yet: nothing allocated", Style::Dim);
    return;
  }
  const DeviceView& device = *row.device;
  const Figures& figures = device.figures;
  // Against the limit where there is one: that is what the program can have.
  const std::uint64_t whole =
      figures.limit.value_or(figures.capacity.value_or(std::max(figures.reserved_peak, figures.held_peak)));
  const std::string of = whole == 0 ? "" : fmt::format("of {}{}", size_words(whole), figures.limit ? " (limit)" : "");
  draw_bar_line(canvas, top + 1, "allocated", figures.allocated, whole, of);
  draw_bar_line(canvas, top + 2, "peak", figures.allocated_peak, whole,
                fmt::format("since {}", clock_text(device.peak_since_ns, now_ns)));
  draw_bar_line(canvas, top + 3, "reserved", figures.reserved, whole, "");
  const segment::CacheNumbers cache = segment::cache_numbers(device.snapshot.basis);
  put_items(
      canvas, 0, top + 4,
      {fmt::format("hit {} %", percent_text(figures.hit_percent)), fmt::format("hits {}", count(cache.hits)),
       fmt::format("misses {}", count(cache.misses)), fmt::format("passed through {}", count(cache.passed_through)),
       fmt::format("driver {}", time_text(static_cast<std::uint64_t>(cache.driver_ns))),
       fmt::format("free wait {}", time_text(static_cast<std::uint64_t>(cache.free_wait_ns)))});
  std::vector<std::string> items{fmt::format("cached {}", size_words(figures.cached)),
                                 fmt::format("held {}", size_words(figures.held)),
                                 fmt::format("ooms {}", figures.ooms),
                                 fmt::format("retries {}", figures.retries),
                                 fmt::format("mode {}", to_text(row.process->snapshot.globals.mode)),
                                 fmt::format("id {}", row.process->id())};
  if (const std::string pool = to_text(row.process->snapshot.globals.inner_pool); !pool.empty()) {
    // What we call allocated is then what the program's own pool has reserved.
    items.insert(items.begin(), fmt::format("pools for itself: {}", pool));
  }
  if (mark != nullptr) {
    const auto known = [](const std::optional<std::uint64_t>& bytes) { return bytes ? size_words(*bytes) : "-"; };
    items.insert(items.begin(), fmt::format("my peak {} (held {}) since {}", known(mark->peaks.allocated),
                                            known(mark->peaks.held), clock_text(mark->since_ns, now_ns)));
  }
  put_items(canvas, 0, top + 5, items, figures.ooms > 0 ? Style::Alarm : Style::Normal);
}

}  // namespace tidemark::viewer
