#include "viewer/render/ranges_text.hpp"

#include "viewer/number_text.hpp"
#include "viewer/render/json_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

#include <algorithm>

namespace tidemark::viewer {
namespace {

std::string count_text(std::uint64_t count) { return grouped(static_cast<std::int64_t>(count)); }

// What of a name was measured at all: of one that never was, sizes are unknown and not 0.
std::string size_of(const NamedRange& range, std::uint64_t bytes) {
  return range.values.unmeasured < range.values.times ? size_column(bytes) : "-";
}

}  // namespace

std::string ranges_text(const std::vector<NamedRange>& ranges, Charset charset, std::size_t width) {
  const bool has_unmeasured =
      std::ranges::any_of(ranges, [](const NamedRange& range) { return range.values.unmeasured > 0; });
  std::vector<TableColumn> columns{{"TIMES", Align::Right}, {"PEAK ALLOCATED", Align::Right},
                                   {"ADDED", Align::Right}, {"PEAK RESERVED", Align::Right, 1},
                                   {"DEVICE", Align::Left}, {"NAME", Align::Left}};
  if (has_unmeasured) {
    columns.insert(columns.begin() + 1, {"NOT MEASURED", Align::Right});
  }
  TextTable table{columns, charset};
  for (const NamedRange& range : ranges) {
    std::vector<std::string> cells{count_text(range.values.times),
                                   size_of(range, range.values.allocated_bytes),
                                   size_of(range, range.values.added_bytes),
                                   size_of(range, range.values.reserved_bytes),
                                   range.device.empty() ? "?" : range.device,
                                   range.name};
    if (has_unmeasured) {
      cells.insert(cells.begin() + 1, count_text(range.values.unmeasured));
    }
    table.add_row(cells);
  }
  return table.text(width);
}

std::string ranges_json(const ProcessView& process, const std::vector<NamedRange>& ranges, std::uint64_t time_ns) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.member("schema", 1);
  json.member("time", static_cast<double>(time_ns) / 1e9);
  json.member("id", process.id());
  json.member("pid", process.pid());
  json.key("ranges").begin_list();
  for (const NamedRange& range : ranges) {
    const auto known = [&range](std::uint64_t bytes) {
      return range.values.unmeasured < range.values.times ? std::optional{bytes} : std::nullopt;
    };
    json.begin_object();
    json.member("name", range.name);
    json.member("device", range.device.empty() ? std::nullopt : std::optional<std::string_view>{range.device});
    json.member("times", range.values.times);
    json.member("not_measured", range.values.unmeasured);
    json.member("peak_allocated_bytes", known(range.values.allocated_bytes));
    json.member("added_bytes", known(range.values.added_bytes));
    json.member("peak_reserved_bytes", known(range.values.reserved_bytes));
    json.member("approximate", range.approximate);
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return text + "\n";
}

}  // namespace tidemark::viewer
