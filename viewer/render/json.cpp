#include "viewer/render/json.hpp"

#include "viewer/model/coverage.hpp"
#include "viewer/render/device_numbers.hpp"
#include "viewer/render/json_text.hpp"

#include "shared/segment/derive.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

using segment::ExtraKey;

std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional{text};
}
std::optional<std::uint64_t> unless_zero(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional{value};
}
double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

void add_last_oom(JsonText& json, const DeviceBasis& basis) {
  json.key("last_oom");
  if (basis[BasisWord::oom_time_ns] == 0) {
    json.null();
    return;
  }
  json.begin_object();
  json.member("time", seconds(basis[BasisWord::oom_time_ns]));
  json.member("requested_bytes", basis[BasisWord::oom_requested_bytes]);
  json.member("allocated_bytes", basis[BasisWord::oom_allocated_bytes]);
  json.member("reserved_bytes", basis[BasisWord::oom_reserved_bytes]);
  json.member("held_bytes", basis[BasisWord::oom_held_bytes]);
  json.member("device_free_bytes", basis[BasisWord::oom_device_free_bytes]);
  json.member("device_total_bytes", basis[BasisWord::oom_device_total_bytes]);
  json.member("largest_free_block_bytes", basis[BasisWord::oom_largest_free_block_bytes]);
  json.member("count", basis[BasisWord::oom_count_lifetime]);
  json.member("count_by_limit", basis[BasisWord::limit_rejections_lifetime]);
  json.end_object();
}

void add_host_kinds(JsonText& json, const std::optional<HostKindCounts>& counts) {
  json.key("host_kinds").begin_object();
  for (std::size_t i = 0; i < kHostKinds; ++i) {
    const auto kind = static_cast<HostKind>(i);
    json.key(to_text(kind));
    if (!counts) {
      json.null();
      continue;
    }
    const KindCount& count = (*counts)[kind];
    json.begin_object();
    json.member("current_bytes", count.current_bytes);
    json.member("peak_bytes", count.peak_bytes);
    json.member("current_count", count.current_count);
    json.member("total_count", count.total_count);
    json.end_object();
  }
  json.end_object();
}

void add_cache(JsonText& json, const DeviceBasis& basis) {
  const segment::CacheNumbers cache = segment::cache_numbers(basis);
  json.key("cache").begin_object();
  json.member("hits", cache.hits);
  json.member("misses", cache.misses);
  json.member("passed_through", cache.passed_through);
  json.member("cached_bytes", cache.cached_bytes);
  json.member("pending_free_bytes", cache.pending_free_bytes);
  json.member("pinned_bytes", cache.pinned_bytes);
  json.member("driver_ns", cache.driver_ns);
  json.member("free_wait_ns", cache.free_wait_ns);
  json.end_object();
}

void add_device(JsonText& json, const DeviceView& device) {
  const segment::DeviceInfo& info = device.snapshot.info;
  const DeviceBasis& basis = device.snapshot.basis;
  const Figures& figures = device.figures;
  const auto extra = [&](ExtraKey key) { return segment::extra_value(basis, key); };
  json.begin_object();
  json.member("device", device.name);
  json.member("backend", to_text(info.backend));
  json.member("index", info.ordinal);
  json.member("uuid", device.uuid);
  json.member("name", unless_empty(info.name.view()));
  json.member("capacity_bytes", figures.capacity);
  json.member("limit_bytes", figures.limit);
  json.member("peak_since", seconds(device.peak_since_ns));
  append_stats(json.key("stats").place_of_value(), basis);
  json.key("held").begin_object();
  json.member("current_bytes", figures.held);
  json.member("peak_bytes", figures.held_peak);
  json.end_object();
  json.key("lifetime_peak").begin_object();
  json.member("allocated_bytes", extra(ExtraKey::LifetimePeakAllocatedBytes));
  json.member("reserved_bytes", extra(ExtraKey::LifetimePeakReservedBytes));
  json.member("held_bytes", extra(ExtraKey::LifetimePeakHeldBytes));
  json.end_object();
  add_cache(json, basis);
  append_kinds(json.key("kinds").place_of_value(), device.snapshot.kinds);
  add_last_oom(json, basis);
  if (info.backend == segment::Backend::Mtia) {
    json.key("dram").begin_object();
    json.member("allocated_bytes", figures.allocated);
    json.member("peak_bytes", figures.allocated_peak);
    json.member("reserved_bytes", figures.reserved);
    json.member("peak_reserved_bytes", figures.reserved_peak);
    json.end_object();
  }
  json.end_object();
}

void add_rank(JsonText& json, const segment::Rank& rank) {
  json.key("rank");
  if (rank.global < 0 && rank.local < 0 && rank.world < 0) {
    json.null();
    return;
  }
  const auto known = [](std::int64_t value) { return value < 0 ? std::nullopt : std::optional{value}; };
  json.begin_object();
  json.member("global", known(rank.global));
  json.member("local", known(rank.local));
  json.member("world", known(rank.world));
  json.end_object();
}

// A process that records what we can't read: that it does is all we know.
void add_recording(JsonText& json, const ProcessView& process) {
  json.key("recording");
  if (process.recording) {
    const history::Recording& recording = *process.recording;
    json.begin_object();
    json.member("enabled", to_text(recording.enabled));
    json.member("stacks", to_text(recording.stacks));
    json.member("max_entries", recording.max_entries);
    json.member("since", seconds(recording.since_ns));
    json.member("lost", recording.lost);
    json.end_object();
  } else if (process.snapshot.globals.has(segment::ProcessFlag::Recording)) {
    json.begin_object();
    for (const char* key : {"enabled", "stacks", "max_entries", "since", "lost"}) {
      json.null_member(key);
    }
    json.end_object();
  } else {
    json.null();
  }
}

// What a segment does not tell (yet) is null, never 0: kinds that nobody counts.
void add_members(JsonText& json, const ProcessView& process) {
  const segment::ProcessIdentity& identity = process.snapshot.identity;
  const segment::ProcessGlobals& globals = process.snapshot.globals;
  const bool elsewhere = process.is_alive() && process.snapshot.pid == 0;  // in a pid namespace that we don't see into
  json.member("id", identity.id);
  json.member("pid", elsewhere ? std::nullopt : std::optional{process.pid()});
  json.member("ns_pid", identity.pid);
  json.member("label", unless_empty(identity.label));
  json.member("container_id", unless_empty(process.container_id));
  add_rank(json, identity.rank);
  json.member("state", to_text(process.snapshot.state));
  json.member("command", unless_empty(identity.command));
  json.member("uid", identity.file_uid);
  json.member("started", seconds(process.started_ns()));
  json.member("inner_pool", unless_empty(to_text(globals.inner_pool)));
  json.member("mode", globals.mode == segment::ProcessMode::Unknown
                          ? std::nullopt
                          : std::optional<std::string_view>{to_text(globals.mode)});
  json.member("mode_reason", unless_empty(globals.mode_reason));
  json.member("layer", unless_empty(to_text(globals.layer)));
  add_recording(json, process);
  add_host_kinds(json, process.snapshot.host_kinds);
  json.key("devices").begin_list();
  for (const DeviceView& device : process.devices) {
    add_device(json, device);
  }
  json.end_list();
}

void add_hidden(JsonText& json, const HiddenProcess& hidden) {
  const auto nulls = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      json.null_member(key);
    }
  };
  json.begin_object();
  json.member("id", hidden.id);
  json.member("pid", hidden.pid);
  json.member("ns_pid", hidden.pid);
  nulls({"label", "container_id", "rank"});
  json.member("state", to_text(segment::ProcessState::Unreadable));
  json.null_member("command");
  json.member("uid", hidden.uid);
  nulls({"started", "inner_pool", "mode", "mode_reason", "layer", "recording", "host_kinds"});
  json.key("devices").begin_list();
  json.end_list();
  json.end_object();
}

std::optional<std::string_view> source_text(UsedSource source) {
  switch (source) {
    case UsedSource::Program:
      return "program";
    case UsedSource::Nvml:
      return "nvml";
    case UsedSource::Unknown:
      break;
  }
  return std::nullopt;
}

void add_node_device(JsonText& json, const NodeDevice& device, std::uint64_t now_ns) {
  std::optional<double> age;
  if (device.used) {  // NVML answers after the look began
    age = seconds(now_ns > device.used_time_ns ? now_ns - device.used_time_ns : 0);
  }
  json.begin_object();
  json.member("uuid", device.uuid);
  json.member("name", unless_empty(device.name));
  json.member("simulated", device.simulated);
  json.member("node_index", device.index);
  json.member("pci_bus_id", unless_empty(device.pci_bus_id));
  json.member("capacity_bytes", unless_zero(device.capacity));
  json.member("used_bytes", device.used);
  json.member("used_source", source_text(device.used_source));
  json.member("used_age_s", age);
  json.member("held_bytes", device.held);
  json.member("cached_bytes", device.cached);
  json.member("not_ours_bytes", device.not_ours());
  json.end_object();
}

void add_settings(JsonText& json, const std::vector<segment::Setting>& settings) {
  json.key("settings");
  if (settings.empty()) {
    json.null();
    return;
  }
  json.begin_object();
  for (const segment::Setting& setting : settings) {
    json.text_key(setting.name).value(unless_empty(setting.value));
  }
  json.end_object();
}

std::optional<std::string_view> dlsym_text(const segment::SymbolCoverage& function) {
  const bool is_swapped = function.has(segment::SymbolUse::Swapped);
  const bool is_missed = function.has(segment::SymbolUse::Missed);
  return unless_empty(is_swapped && is_missed ? "both" : is_swapped ? "ours" : is_missed ? "theirs" : "");
}

void add_coverage(JsonText& json, const std::optional<segment::CoverageList>& coverage) {
  json.key("coverage");
  if (!coverage) {
    json.null();
    return;
  }
  json.begin_object();
  json.key("functions").begin_list();
  for (const segment::SymbolCoverage& function : *coverage) {
    json.begin_object();
    json.member("name", function.name);
    json.member("dlsym", dlsym_text(function));
    json.member("resolved", function.has(segment::SymbolUse::Resolved));
    json.member("called", function.has(segment::SymbolUse::Entered));
    json.end_object();
  }
  json.end_list();
  json.key("unaccounted").begin_list();
  for (const segment::SymbolCoverage& function : unaccounted(*coverage)) {
    json.begin_object();
    json.member("name", function.name);
    json.member("calls", function.unaccounted_calls);
    json.end_object();
  }
  json.end_list();
  json.member("export_tables", tables_asked_for(*coverage));
  json.end_object();
}

}  // namespace

void write_ps_json(const View& view, const std::function<void(std::string_view)>& write) {
  constexpr std::size_t kPiece = 1 << 16;
  std::string text;
  text.reserve(kPiece + kPiece / 2);
  const auto write_if_enough = [&] {
    if (text.size() >= kPiece) {
      write(text);
      text.clear();
    }
  };
  JsonText json(text);
  json.begin_object();
  json.member("schema", 1);
  json.member("host", view.host);
  json.member("time", seconds(view.time_ns));
  json.key("devices").begin_list();
  for (const NodeDevice& device : node_devices(view)) {
    add_node_device(json, device, view.time_ns);
  }
  json.end_list();
  json.key("processes").begin_list();
  for (const ProcessView& process : view.processes) {
    json.begin_object();
    add_members(json, process);
    json.end_object();
    write_if_enough();
  }
  for (const HiddenProcess& hidden : view.hidden) {
    add_hidden(json, hidden);
    write_if_enough();
  }
  json.end_list();
  json.end_object();
  text += '\n';
  write(text);
}

std::string ps_json(const View& view) {
  std::string all;
  write_ps_json(view, [&all](std::string_view piece) { all += piece; });
  return all;
}

std::string show_json(const ProcessView& process, std::uint64_t time_ns) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.member("schema", 1);
  json.member("time", seconds(time_ns));
  add_members(json, process);
  add_settings(json, process.settings);
  add_coverage(json, process.coverage);
  json.end_object();
  return text += '\n';
}

}  // namespace tidemark::viewer
