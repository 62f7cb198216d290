#include "viewer/tui/detail_page.hpp"

#include "viewer/number_text.hpp"
#include "viewer/render/closing_sum.hpp"
#include "viewer/render/counter_rows.hpp"
#include "viewer/render/show_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/tui/page_table.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr int kHang = 2;

// Each line of the text as a paragraph of its own, as far in as it begins.
void add_lines(Page& page, std::string_view text, int width) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    add_paragraph(page.lines, line, width, static_cast<int>(indent), kHang, indent == 0 ? Style::Bold : Style::Normal);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string variable_of(std::string_view setting) {
  std::string name = "TIDEMARK_";
  for (const char c : setting) {
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

void add_settings(Page& page, const std::vector<segment::Setting>& settings, int width) {
  std::string set;
  std::string unset;
  for (const segment::Setting& setting : settings) {
    std::string& list = setting.value.empty() ? unset : set;
    list += list.empty() ? "" : ", ";
    list += setting.value.empty() ? variable_of(setting.name)
                                  : fmt::format("{}={}", variable_of(setting.name), setting.value);
  }
  if (!settings.empty()) {
    add_lines(page, fmt::format("  settings: {}{}{}\n", set, unset.empty() ? "" : "; not set: ", unset), width);
  }
}

void add_kinds(Page& page, std::string_view title, const std::vector<KindRow>& kinds, int width, Charset charset) {
  if (kinds.empty()) {
    return;
  }
  PageTable table{.titles = {std::string{title}, "NOW", "PEAK", "PIECES", "SO FAR", "MEANING"}, .rows = {}};
  for (const KindRow& kind : kinds) {
    table.rows.push_back(
        {.name = kind.name, .cells = {kind.now, kind.peak, kind.pieces, kind.so_far}, .meaning = kind.meaning});
  }
  page.lines.emplace_back();
  add_table(page.lines, table, width, charset);
}

// `node`: as closing_sum_lines() wants it.
void add_device(Page& page, const DeviceView& device, const NodeDevice* node, std::uint64_t now_ns, int width,
                Charset charset) {
  page.lines.emplace_back();
  add_lines(page, device_paragraph(device, now_ns), width);
  page.lines.emplace_back();
  PageTable sum{.titles = {}, .rows = {}};
  for (const SumLine& line : closing_sum_lines(device, now_ns, node)) {
    sum.rows.push_back({.name = line.name,
                        .cells = {line.bytes ? size_column(*line.bytes) : "N/A      ",
                                  line.bytes ? grouped(static_cast<std::int64_t>(*line.bytes)) : ""},
                        .meaning = line.remark});
  }
  add_table(page.lines, sum, width, charset);
  if (device.snapshot.kinds) {
    add_kinds(page, "OTHER KINDS", kind_rows(*device.snapshot.kinds), width, charset);
  }
  PageTable counters{.titles = {"COUNTER", "NOW", "PEAK", "TOTAL IN", "TOTAL OUT", "MEANING"}, .rows = {}};
  for (const CounterRow& row : counter_rows(device.snapshot.basis)) {
    counters.rows.push_back(
        {.name = row.name, .cells = {row.now, row.peak, row.total_in, row.total_out}, .meaning = row.meaning});
  }
  page.lines.emplace_back();
  add_table(page.lines, counters, width, charset);
}

}  // namespace

Page detail_page(const View& view, const RowKey& key, int width, Charset charset) {
  const std::vector<Row> rows = rows_of(view);
  const auto index = index_of(rows, key);
  if (!index) {
    return {.title = fmt::format("{} {}", key.id, key.device),
            .lines = {{{.column = 0, .text = "that process is gone"}}}};
  }
  const Row& row = rows[*index];
  Page page{.title = fmt::format("{} {} {}", row.process->pid(), key.device, row.process->title()), .lines = {}};
  add_lines(page, process_paragraph(*row.process, view.time_ns), width);
  add_settings(page, row.process->settings, width);
  if (row.process->snapshot.host_kinds) {
    add_kinds(page, "HOST MEMORY", kind_rows(*row.process->snapshot.host_kinds), width, charset);
  }
  if (row.device == nullptr) {
    add_lines(page, "no device yet: nothing allocated there\n", width);
  } else {
    const std::vector<NodeDevice> devices_of_node = node_devices(view);
    const NodeDevice* const node = node_device_of(devices_of_node, *row.process, *row.device);
    add_device(page, *row.device, node, view.time_ns, width, charset);
  }
  return page;
}

}  // namespace tidemark::viewer
