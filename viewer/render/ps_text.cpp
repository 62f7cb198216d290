#include "viewer/render/ps_text.hpp"

#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tidemark::viewer {
namespace {

std::string pid_text(std::int64_t pid) { return pid > 0 ? fmt::format("{}", pid) : "-"; }

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string{text};
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + '"';
}

std::string optional_text(std::optional<std::uint64_t> value) { return value ? fmt::format("{}", *value) : ""; }

constexpr std::ptrdiff_t kRankColumn = 2;  // behind the pid

// "3/8": the rank and how many there are.
std::string rank_text(const segment::Rank& rank) {
  if (rank.global < 0) {
    return "-";
  }
  return rank.world < 0 ? fmt::format("{}", rank.global) : fmt::format("{}/{}", rank.global, rank.world);
}

}  // namespace

std::string branch_text(const TreeLine& line, Charset charset, bool is_first) {
  const bool ascii = charset == Charset::Ascii;
  std::string text;
  for (std::size_t level = 0; level < line.goes_on.size(); ++level) {
    const bool goes_on = line.goes_on[level];
    if (is_first && level + 1 == line.goes_on.size()) {
      text += goes_on ? (ascii ? "|- " : "├─ ") : (ascii ? "`- " : "└─ ");
    } else {
      text += goes_on ? (ascii ? "|  " : "│  ") : "   ";
    }
  }
  return text;
}

std::string percent_text(std::optional<double> percent) {
  return percent ? fmt::format("{:.1f}", std::floor(*percent * 10) / 10) : "-";
}

std::string ps_text(const View& view, const std::vector<TreeLine>& tree, Charset charset, std::size_t width) {
  const bool has_ranks = std::any_of(view.processes.begin(), view.processes.end(), [](const ProcessView& process) {
    return process.snapshot.identity.rank.global >= 0;
  });
  std::vector<TableColumn> columns{{"ID"},
                                   {"PID", Align::Right},
                                   {"DEVICE"},
                                   {"STATE"},
                                   {"ALLOCATED", Align::Right},
                                   {"PEAK", Align::Right},
                                   {"RESERVED", Align::Right, 3},
                                   {"CACHED", Align::Right, 2},
                                   {"HELD", Align::Right},
                                   {"HIT%", Align::Right, 1},
                                   {"LABEL/COMMAND"}};
  const auto with_rank = [&](std::vector<std::string> cells, const std::string& rank) {
    if (has_ranks) {
      cells.insert(cells.begin() + kRankColumn, rank);
    }
    return cells;
  };
  if (has_ranks) {
    columns.insert(columns.begin() + kRankColumn, TableColumn{"RANK", Align::Right});
  }
  TextTable table(columns, charset);
  for (const TreeLine& line : tree) {
    const ProcessView& process = view.processes[line.process];
    const std::string state = to_text(process.snapshot.state);
    const std::string rank = rank_text(process.snapshot.identity.rank);
    std::string title = branch_text(line, charset, true) + process.title();
    if (process.devices.empty()) {
      table.add_row(
          with_rank({process.id(), pid_text(process.pid()), "-", state, "-", "-", "-", "-", "-", "-", title}, rank));
    }
    for (const DeviceView& device : process.devices) {
      const Figures& figures = device.figures;
      table.add_row(
          with_rank({process.id(), pid_text(process.pid()), device.name, state, size_column(figures.allocated),
                     size_column(figures.allocated_peak), size_column(figures.reserved), size_column(figures.cached),
                     size_column(figures.held), percent_text(figures.hit_percent), title},
                    rank));
      title = branch_text(line, charset, false) + process.title();
    }
  }
  for (const HiddenProcess& hidden : view.hidden) {
    table.add_row(with_rank({hidden.id, pid_text(static_cast<std::int64_t>(hidden.pid)), "-", "unreadable", "-", "-",
                             "-", "-", "-", "-", fmt::format("of user {}", hidden.uid)},
                            "-"));
  }
  return table.text(width);
}

std::string ps_text(const View& view, Charset charset, std::size_t width) {
  std::vector<TreeLine> list(view.processes.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].process = i;
  }
  return ps_text(view, list, charset, width);
}

namespace {

// Each record begins with `prefix`.
std::string csv_of(const View& view, bool with_header, std::string_view header_prefix, std::string_view prefix) {
  constexpr std::string_view kHeader =
      "id,pid,device,state,requested_bytes,allocated_bytes,peak_allocated_bytes,reserved_bytes,peak_reserved_bytes,"
      "cached_bytes,held_bytes,peak_held_bytes,capacity_bytes,limit_bytes,hit_percent,ooms,label,command\n";
  std::string text = with_header ? fmt::format("{}{}", header_prefix, kHeader) : std::string{};
  for (const ProcessView& process : view.processes) {
    const auto& identity = process.snapshot.identity;
    const std::string head = fmt::format("{}{},{}", prefix, identity.id, process.pid());
    const std::string tail = fmt::format("{},{}", quoted(identity.label), quoted(identity.command));
    const std::string state = to_text(process.snapshot.state);
    if (process.devices.empty()) {
      text += fmt::format("{},,{},,,,,,,,,,,,,{}\n", head, state, tail);
    }
    for (const DeviceView& device : process.devices) {
      const Figures& f = device.figures;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", head, device.name, state, f.requested,
                          f.allocated, f.allocated_peak, f.reserved, f.reserved_peak, f.cached, f.held, f.held_peak,
                          optional_text(f.capacity), optional_text(f.limit),
                          f.hit_percent ? fmt::format("{:.3f}", *f.hit_percent) : "", f.ooms, tail);
    }
  }
  for (const HiddenProcess& hidden : view.hidden) {
    text += fmt::format("{}{},{},,unreadable,,,,,,,,,,,,,,\n", prefix, hidden.id, hidden.pid);
  }
  return text;
}

}  // namespace

std::string ps_csv(const View& view) { return csv_of(view, true, "", ""); }

std::string ps_csv_look(const View& view, bool with_header) {
  const std::string time = fmt::format("{}.{:03},", view.time_ns / 1'000'000'000, view.time_ns / 1'000'000 % 1000);
  return csv_of(view, with_header, "time,", time);
}

}  // namespace tidemark::viewer
