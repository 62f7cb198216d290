#include "viewer/render/ps_text.hpp"

#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace

std::string percent_text(std::optional<double> percent) {
  return percent ? fmt::format("{:.1f}", std::floor(*percent * 10) / 10) : "-";
}

std::string ps_text(const View& view, Charset charset, std::size_t width) {
  TextTable table({{"ID"},
                   {"PID", Align::Right},
                   {"DEVICE"},
                   {"STATE"},
                   {"ALLOCATED", Align::Right},
                   {"PEAK", Align::Right},
                   {"RESERVED", Align::Right},
                   {"CACHED", Align::Right},
                   {"HIT%", Align::Right},
                   {"LABEL/COMMAND"}},
                  charset);
  for (const ProcessView& process : view.processes) {
    const std::string state = to_text(process.snapshot.state);
    if (process.devices.empty()) {
      table.add_row({process.id(), pid_text(process.pid()), "-", state, "-", "-", "-", "-", "-", process.title()});
    }
    for (const DeviceView& device : process.devices) {
      const Figures& figures = device.figures;
      table.add_row({process.id(), pid_text(process.pid()), device.name, state, size_column(figures.allocated),
                     size_column(figures.allocated_peak), size_column(figures.reserved), size_column(figures.cached),
                     percent_text(figures.hit_percent), process.title()});
    }
  }
  for (const HiddenProcess& hidden : view.hidden) {
    table.add_row({hidden.id, pid_text(static_cast<std::int64_t>(hidden.pid)), "-", "unreadable", "-", "-", "-", "-",
                   "-", fmt::format("of user {}", hidden.uid)});
  }
  return table.text(width);
}

std::string ps_csv(const View& view) {
  std::string text =
      "id,pid,device,state,requested_bytes,allocated_bytes,peak_allocated_bytes,reserved_bytes,peak_reserved_bytes,"
      "cached_bytes,held_bytes,peak_held_bytes,capacity_bytes,limit_bytes,hit_percent,ooms,label,command\n";
  for (const ProcessView& process : view.processes) {
    const auto& identity = process.snapshot.identity;
    const std::string head = fmt::format("{},{}", identity.id, process.pid());
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
    text += fmt::format("{},{},,unreadable,,,,,,,,,,,,,,\n", hidden.id, hidden.pid);
  }
  return text;
}

}  // namespace tidemark::viewer
