#include "viewer/render/show_text.hpp"

#include "viewer/duration_text.hpp"
#include "viewer/number_text.hpp"
#include "viewer/render/ps_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

#include "shared/segment/derive.hpp"

#include <fmt/format.h>

#include <chrono>

namespace tidemark::viewer {
namespace {

using segment::CounterInfo;
using segment::CounterUnit;
using segment::ProcessFlag;

std::string ago_text(std::uint64_t time_ns, std::uint64_t now_ns) {
  const std::uint64_t ns = now_ns > time_ns ? now_ns - time_ns : 0;
  return duration_words(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::nanoseconds{ns}));
}

std::string value_text(const CounterInfo& info, std::int64_t value) {
  if (value < 0) {
    return info.key == "max_split_size" ? "unlimited" : grouped(value);
  }
  switch (info.unit) {
    case CounterUnit::Bytes:
      return size_column(static_cast<std::uint64_t>(value));
    case CounterUnit::Nanoseconds:
      return time_text(static_cast<std::uint64_t>(value));
    case CounterUnit::Count:
      break;
  }
  return grouped(value);
}

std::string sentence_of(std::string_view meaning) {
  constexpr std::string_view kNow = "Now: ";
  return std::string{meaning.starts_with(kNow) ? meaning.substr(kNow.size()) : meaning};
}

std::string on_off(bool on) { return on ? "on" : "off"; }

std::string headline(const ProcessView& process, std::uint64_t now_ns) {
  const auto& snapshot = process.snapshot;
  std::string text = fmt::format("{}\n  pid {}, id {}, user {}, {}, started {} ({} ago)\n", process.title(),
                                 process.pid(), process.id(), snapshot.identity.file_uid, to_text(snapshot.state),
                                 clock_text(process.started_ns(), now_ns), ago_text(process.started_ns(), now_ns));
  if (snapshot.has_newer_layout) {
    text += "  written by a newer version: what this one does not know is left out\n";
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
                      on_off(globals.has(ProcessFlag::ServiceThread)), on_off(globals.has(ProcessFlag::Recording)));
  if (const std::string pool = to_text(globals.inner_pool); !pool.empty()) {
    text += fmt::format("  the program pools for itself ({0}): allocated here is what {0} has reserved\n", pool);
  }
  const auto as_count = [](std::uint64_t value) { return grouped(static_cast<std::int64_t>(value)); };
  // A library that doesn't count its calls says 0: not known, so not shown.
  const bool counts_calls = globals.hooks.hook_calls != 0;
  const std::string calls = counts_calls ? fmt::format("calls {}, forwarded {}; ", as_count(globals.hooks.hook_calls),
                                                       as_count(globals.hooks.forwarded_calls))
                                         : "";
  text += fmt::format("  {}look-ups {} (dlsym {}, the driver's resolver {}), answered with ours {}\n", calls,
                      as_count(globals.hooks.lookups + globals.hooks.resolver_lookups), as_count(globals.hooks.lookups),
                      as_count(globals.hooks.resolver_lookups), as_count(globals.hooks.swapped_lookups));
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

std::string device_lines(const DeviceView& device, std::uint64_t now_ns) {
  const DeviceBasis& basis = device.snapshot.basis;
  const Figures& figures = device.figures;
  std::string text = fmt::format("\n{}  {}  {}\n", device.name, device.snapshot.info.name.view(), device.uuid);
  text += fmt::format(
      "  capacity {}, limit {}, mode {}, peaks since {}\n",
      figures.capacity ? size_words(*figures.capacity) : "unknown", figures.limit ? size_words(*figures.limit) : "none",
      mode_text(static_cast<DeviceMode>(basis[BasisWord::mode])), clock_text(device.peak_since_ns, now_ns));
  if (device.snapshot.approximate) {
    text += "  the process stopped in the middle of an update: sums may be off by one event\n";
  }
  if (basis[BasisWord::oom_time_ns] != 0) {
    text +=
        fmt::format("  out of memory {} times, last {} ago: {} asked, {} reserved, {} free on the device\n",
                    basis[BasisWord::oom_count_lifetime], ago_text(basis[BasisWord::oom_time_ns], now_ns),
                    size_words(basis[BasisWord::oom_requested_bytes]), size_words(basis[BasisWord::oom_reserved_bytes]),
                    size_words(basis[BasisWord::oom_device_free_bytes]));
  }
  return text;
}

// One line a statistic (its four keys), one a plain counter.
std::string counter_table(const DeviceBasis& basis, Charset charset) {
  TextTable table({{"  COUNTER"},
                   {"NOW", Align::Right},
                   {"PEAK", Align::Right},
                   {"TOTAL IN", Align::Right},
                   {"TOTAL OUT", Align::Right},
                   {"MEANING"}},
                  charset);
  const auto list = segment::counter_list();
  const auto value = [&](std::size_t i) {
    return value_text(list[i], segment::stat_value(basis, segment::StatKey{static_cast<std::uint32_t>(i)}));
  };
  constexpr std::string_view kFirst = ".allocated";  // then come current, freed, peak: the list is sorted
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].key.ends_with(kFirst)) {
      const std::string_view name = list[i].key.substr(0, list[i].key.size() - kFirst.size());
      table.add_row({fmt::format("  {}", name), value(i + 1), value(i + 3), value(i), value(i + 2),
                     sentence_of(list[i + 1].meaning)});
      i += 3;
    } else {
      table.add_row({fmt::format("  {}", list[i].key), value(i), "", "", "", sentence_of(list[i].meaning)});
    }
  }
  const auto extras = segment::extra_list();
  for (std::size_t i = 0; i < extras.size(); ++i) {
    const auto key = static_cast<segment::ExtraKey>(i);
    table.add_row({fmt::format("  {}", extras[i].key), value_text(extras[i], segment::extra_value(basis, key)), "", "",
                   "", sentence_of(extras[i].meaning)});
  }
  return table.text();
}

}  // namespace

std::string closing_sum(const DeviceView& device, std::uint64_t now_ns) {
  const Figures& figures = device.figures;
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  std::string text;
  const auto line = [&](std::string_view name, std::int64_t bytes) {
    const std::string size = bytes < 0 ? "" : size_column(static_cast<std::uint64_t>(bytes));
    text += fmt::format("  {:<38} {:>20}  {:>9}", name, grouped(bytes), size);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  line("requested by the program", number(figures.requested));
  // Below zero while frees are pending: a size counts as requested until its free is complete.
  line("+ rounding", number(figures.allocated) - number(figures.requested));
  line("= allocated", number(figures.allocated));
  line("+ freed, device work pending", number(figures.pending));
  line("+ cached", number(figures.cached));
  line("= reserved", number(figures.reserved));
  line("+ other kinds on the device", number(figures.held) - number(figures.reserved));
  line("= held", number(figures.held));
  const DeviceBasis& basis = device.snapshot.basis;
  const std::uint64_t total = basis[BasisWord::driver_total_bytes];
  const std::uint64_t free = basis[BasisWord::driver_free_bytes];
  const std::uint64_t asked = basis[BasisWord::driver_info_time_ns];
  if (asked == 0 || free > total) {
    text += "  + not ours                              unknown: the program never asked its driver\n";
    return text;
  }
  line("+ not ours", number(total - free) - number(figures.held));
  line(fmt::format("= used, as the driver said {} ago", ago_text(asked, now_ns)), number(total - free));
  return text;
}

std::string show_text(const ProcessView& process, std::uint64_t now_ns, Charset charset) {
  std::string text = clean_lines(headline(process, now_ns) + library_lines(process, now_ns), charset);
  if (process.devices.empty()) {
    text += "\nno device yet: nothing allocated\n";
  }
  for (const DeviceView& device : process.devices) {
    text += clean_lines(device_lines(device, now_ns), charset) + '\n' + counter_table(device.snapshot.basis, charset) +
            '\n' + closing_sum(device, now_ns);
  }
  return text;
}

}  // namespace tidemark::viewer
