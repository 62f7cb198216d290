#include "viewer/render/show_text.hpp"

#include "viewer/duration_text.hpp"
#include "viewer/number_text.hpp"
#include "viewer/render/closing_sum.hpp"
#include "viewer/render/counter_rows.hpp"
#include "viewer/render/coverage_text.hpp"
#include "viewer/render/ps_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

#include <fmt/format.h>

#include <chrono>

namespace tidemark::viewer {
namespace {

using segment::ProcessFlag;

std::string on_off(bool on) { return on ? "on" : "off"; }

std::string headline(const ProcessView& process, std::uint64_t now_ns) {
  const auto& snapshot = process.snapshot;
  std::string text = fmt::format("{}\n  pid {}, id {}, user {}, {}, started {} ({} ago)\n", process.title(),
                                 process.pid(), process.id(), snapshot.identity.file_uid, to_text(snapshot.state),
                                 clock_text(process.started_ns(), now_ns), ago_words(process.started_ns(), now_ns));
  if (snapshot.state == segment::ProcessState::Replaced) {
    text +=
        "  replaced by exec: the process goes on with another program, and these are the last numbers of this one\n";
  }
  if (snapshot.has_newer_layout) {
    text += "  written by a newer version: what this one does not know is left out\n";
  }
  return text;
}

std::string recording_words(const ProcessView& process, std::uint64_t now_ns) {
  if (!process.recording) {
    return on_off(process.snapshot.globals.has(ProcessFlag::Recording));
  }
  const history::Recording& recording = *process.recording;
  std::string text = fmt::format("{} since {}", to_text(recording.enabled), clock_text(recording.since_ns, now_ns));
  if (recording.enabled == history::Enabled::All) {
    text += fmt::format(" (the last {} events of a device, {} lost)",
                        grouped(static_cast<std::int64_t>(recording.max_entries)),
                        grouped(static_cast<std::int64_t>(recording.lost)));
  }
  return text;
}

std::string library_lines(const ProcessView& process, std::uint64_t now_ns) {
  const auto& identity = process.snapshot.identity;
  const auto& globals = process.snapshot.globals;
  std::string text = fmt::format("  library {}: mode {}", identity.shim_version, to_text(globals.mode));
  if (!globals.mode_reason.empty()) {
    text += fmt::format(" because {}, since {}", globals.mode_reason, clock_text(globals.mode_realtime_ns, now_ns));
  }
  if (const std::string layer = to_text(globals.layer); !layer.empty()) {
    text += fmt::format(", layer {}", layer);
  }
  text += fmt::format(", free {}, control {}, service thread {}, recording {}\n",
                      globals.has(ProcessFlag::FastFree) ? "fast" : "strict", to_text(globals.control_policy),
                      on_off(globals.has(ProcessFlag::ServiceThread)), recording_words(process, now_ns));
  if (const std::string pool = to_text(globals.inner_pool); !pool.empty()) {
    text += fmt::format("  the program pools for itself ({0}): allocated here is what {0} has reserved\n", pool);
  }
  const auto as_count = [](std::uint64_t value) { return grouped(static_cast<std::int64_t>(value)); };
  // A library that doesn't count its calls says 0: not known, so not shown.
  const bool counts_calls = globals.hooks.hook_calls != 0;
  const std::string calls = counts_calls ? fmt::format("calls {}, forwarded {}; ", as_count(globals.hooks.hook_calls),
                                                       as_count(globals.hooks.forwarded_calls))
                                         : "";
  if (globals.heartbeat_count == 0) {
    text += "  look-ups - (told with each heartbeat, and there was none yet)\n";
  } else {
    text += fmt::format("  {}look-ups {} (dlsym {}, the driver's resolver {}), answered with ours {}{}\n", calls,
                        as_count(globals.hooks.lookups + globals.hooks.resolver_lookups),
                        as_count(globals.hooks.lookups), as_count(globals.hooks.resolver_lookups),
                        as_count(globals.hooks.swapped_lookups), process.is_alive() ? "" : ", by the last heartbeat");
  }
  if (globals.hooks.foreign_frees > 0) {
    text += fmt::format(
        "  frees of pointers that nothing here knows {}: the driver answers them, often that they are invalid\n",
        as_count(globals.hooks.foreign_frees));
  }
  text +=
      fmt::format("  requests done {}, refused {}, ignored {}; errors of the library that the program never saw {}\n",
                  as_count(globals.requests_done), as_count(globals.requests_refused),
                  as_count(globals.requests_ignored), as_count(globals.errors));
  return text;
}

const char* mode_text(DeviceMode mode) {
  switch (mode) {
    case DeviceMode::Cache:
      return "cache";
    case DeviceMode::Count:
      return "count";
    case DeviceMode::PassThrough:
      return "pass through";
  }
  return "?";
}

std::string counter_table(const DeviceBasis& basis, Charset charset) {
  TextTable table({{"  COUNTER"},
                   {"NOW", Align::Right},
                   {"PEAK", Align::Right},
                   {"TOTAL IN", Align::Right},
                   {"TOTAL OUT", Align::Right},
                   {"MEANING"}},
                  charset);
  for (const CounterRow& row : counter_rows(basis)) {
    table.add_row({fmt::format("  {}", row.name), row.now, row.peak, row.total_in, row.total_out, row.meaning});
  }
  return table.text();
}

std::string kind_table(std::string_view title, const std::vector<KindRow>& rows, Charset charset) {
  if (rows.empty()) {
    return "";
  }
  TextTable table({{fmt::format("  {}", title)},
                   {"NOW", Align::Right},
                   {"PEAK", Align::Right},
                   {"PIECES", Align::Right},
                   {"SO FAR", Align::Right},
                   {"MEANING"}},
                  charset);
  for (const KindRow& row : rows) {
    table.add_row({fmt::format("  {}", row.name), row.now, row.peak, row.pieces, row.so_far, row.meaning});
  }
  return '\n' + table.text();
}

std::string closing_sum(const DeviceView& device, std::uint64_t now_ns, const NodeDevice* node) {
  std::string text;
  for (const SumLine& line : closing_sum_lines(device, now_ns, node)) {
    if (!line.remark.empty()) {
      text += fmt::format("  {:<40}{}\n", line.name, line.remark);
    } else if (line.bytes) {
      text += fmt::format("  {:<38} {:>20}  {:>9}", line.name, grouped(static_cast<std::int64_t>(*line.bytes)),
                          size_column(*line.bytes));
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    } else {
      text += fmt::format("  {:<38} {:>20}\n", line.name, "-");
    }
  }
  return text;
}

}  // namespace

std::string device_paragraph(const DeviceView& device, std::uint64_t now_ns) {
  const DeviceBasis& basis = device.snapshot.basis;
  const Figures& figures = device.figures;
  std::string text = fmt::format("{}  {}  {}\n", device.name, device.snapshot.info.name.view(), device.uuid);
  text += fmt::format(
      "  capacity {}, limit {}, mode {}, peaks since {}\n",
      figures.capacity ? size_words(*figures.capacity) : "unknown", figures.limit ? size_words(*figures.limit) : "none",
      mode_text(static_cast<DeviceMode>(basis[BasisWord::mode])), clock_text(device.peak_since_ns, now_ns));
  if (device.snapshot.approximate) {
    text += "  the process stopped in the middle of an update: sums may be off by one event\n";
  }
  if (basis[BasisWord::oom_time_ns] != 0) {
    const std::uint64_t by_limit = basis[BasisWord::limit_rejections_lifetime];
    text += fmt::format(
        "  out of memory {} times{}, last {} ago: {} asked, {} reserved, {} free on the device\n",
        basis[BasisWord::oom_count_lifetime], by_limit == 0 ? "" : fmt::format(" ({} by the limit)", by_limit),
        ago_words(basis[BasisWord::oom_time_ns], now_ns), size_words(basis[BasisWord::oom_requested_bytes]),
        size_words(basis[BasisWord::oom_reserved_bytes]), size_words(basis[BasisWord::oom_device_free_bytes]));
  }
  return text;
}

std::string process_paragraph(const ProcessView& process, std::uint64_t now_ns) {
  return headline(process, now_ns) + library_lines(process, now_ns) +
         (process.coverage ? coverage_text(*process.coverage) : "");
}

std::string show_text(const ProcessView& process, std::uint64_t now_ns, Charset charset,
                      std::span<const NodeDevice> node) {
  std::string text = clean_lines(process_paragraph(process, now_ns), charset);
  if (process.devices.empty()) {
    text += "\nno device yet: nothing allocated there\n";
  }
  if (process.snapshot.host_kinds) {
    text += kind_table("HOST MEMORY", kind_rows(*process.snapshot.host_kinds), charset);
  }
  for (const DeviceView& device : process.devices) {
    text += clean_lines('\n' + device_paragraph(device, now_ns), charset) + '\n' +
            counter_table(device.snapshot.basis, charset);
    if (device.snapshot.kinds) {
      text += kind_table("OTHER KINDS", kind_rows(*device.snapshot.kinds), charset);
    }
    text += '\n' + closing_sum(device, now_ns, node_device_of(node, process, device));
  }
  return text;
}

}  // namespace tidemark::viewer
