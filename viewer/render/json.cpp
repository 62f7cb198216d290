#include "viewer/render/json.hpp"

#include "shared/segment/derive.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace tidemark::viewer {
namespace {

using Json = nlohmann::ordered_json;
using segment::ExtraKey;

std::string document(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }
Json count_or_null(std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); }
double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

Json stats_json(const DeviceBasis& basis) {
  Json stats = Json::object();
  // Appended as they come: stats[key] would look through all earlier keys, 122 times for each of many devices.
  auto& members = stats.get_ref<Json::object_t&>();
  const auto list = segment::counter_list();
  members.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    members.emplace_back(list[i].key, segment::stat_value(basis, segment::StatKey{static_cast<std::uint32_t>(i)}));
  }
  return stats;
}

Json last_oom_json(const DeviceBasis& basis) {
  if (basis[BasisWord::oom_time_ns] == 0) {
    return nullptr;
  }
  return {{"time", seconds(basis[BasisWord::oom_time_ns])},
          {"requested_bytes", basis[BasisWord::oom_requested_bytes]},
          {"allocated_bytes", basis[BasisWord::oom_allocated_bytes]},
          {"reserved_bytes", basis[BasisWord::oom_reserved_bytes]},
          {"held_bytes", basis[BasisWord::oom_held_bytes]},
          {"device_free_bytes", basis[BasisWord::oom_device_free_bytes]},
          {"device_total_bytes", basis[BasisWord::oom_device_total_bytes]},
          {"largest_free_block_bytes", basis[BasisWord::oom_largest_free_block_bytes]},
          {"count", basis[BasisWord::oom_count_lifetime]}};
}

Json device_json(const DeviceView& device) {
  const segment::DeviceInfo& info = device.snapshot.info;
  const DeviceBasis& basis = device.snapshot.basis;
  const Figures& figures = device.figures;
  const segment::CacheNumbers cache = segment::cache_numbers(basis);
  const auto extra = [&](ExtraKey key) { return segment::extra_value(basis, key); };
  Json json{{"device", device.name},
            {"backend", to_text(info.backend)},
            {"index", info.ordinal},
            {"uuid", device.uuid},
            {"name", text_or_null(info.name.view())},
            {"capacity_bytes", or_null(figures.capacity)},
            {"limit_bytes", or_null(figures.limit)},
            {"peak_since", seconds(device.peak_since_ns)},
            {"stats", stats_json(basis)},
            {"held", {{"current_bytes", figures.held}, {"peak_bytes", figures.held_peak}}},
            {"lifetime_peak",
             {{"allocated_bytes", extra(ExtraKey::LifetimePeakAllocatedBytes)},
              {"reserved_bytes", extra(ExtraKey::LifetimePeakReservedBytes)},
              {"held_bytes", extra(ExtraKey::LifetimePeakHeldBytes)}}},
            {"cache",
             {{"hits", cache.hits},
              {"misses", cache.misses},
              {"passed_through", cache.passed_through},
              {"cached_bytes", cache.cached_bytes},
              {"pending_free_bytes", cache.pending_free_bytes},
              {"pinned_bytes", cache.pinned_bytes},
              {"driver_ns", cache.driver_ns},
              {"free_wait_ns", cache.free_wait_ns}}},
            {"kinds", Json::object()},
            {"last_oom", last_oom_json(basis)}};
  if (info.backend == segment::Backend::Mtia) {
    json["dram"] = {{"allocated_bytes", figures.allocated},
                    {"peak_bytes", figures.allocated_peak},
                    {"reserved_bytes", figures.reserved},
                    {"peak_reserved_bytes", figures.reserved_peak}};
  }
  return json;
}

Json rank_json(const segment::Rank& rank) {
  if (rank.global < 0 && rank.local < 0 && rank.world < 0) {
    return nullptr;
  }
  const auto known = [](std::int64_t value) { return value < 0 ? Json(nullptr) : Json(value); };
  return {{"global", known(rank.global)}, {"local", known(rank.local)}, {"world", known(rank.world)}};
}

Json mode_json(segment::ProcessMode mode) {
  return mode == segment::ProcessMode::Unknown ? Json(nullptr) : Json(to_text(mode));
}

// What a segment does not tell (yet) is null, never 0: kinds of memory, and the details of a recording.
Json process_json(const ProcessView& process) {
  const segment::ProcessIdentity& identity = process.snapshot.identity;
  const segment::ProcessGlobals& globals = process.snapshot.globals;
  const bool elsewhere = process.is_alive() && process.snapshot.pid == 0;  // in a pid namespace that we don't see into
  Json recording = nullptr;
  if (globals.has(segment::ProcessFlag::Recording)) {
    recording = {
        {"enabled", nullptr}, {"stacks", nullptr}, {"max_entries", nullptr}, {"since", nullptr}, {"lost", nullptr}};
  }
  Json json{{"id", identity.id},
            {"pid", elsewhere ? Json(nullptr) : Json(process.pid())},
            {"ns_pid", identity.pid},
            {"label", text_or_null(identity.label)},
            {"container_id", nullptr},
            {"rank", rank_json(identity.rank)},
            {"state", to_text(process.snapshot.state)},
            {"command", text_or_null(identity.command)},
            {"uid", identity.file_uid},
            {"started", seconds(process.started_ns())},
            {"inner_pool", text_or_null(to_text(globals.inner_pool))},
            {"mode", mode_json(globals.mode)},
            {"mode_reason", text_or_null(globals.mode_reason)},
            {"layer", text_or_null(to_text(globals.layer))},
            {"recording", std::move(recording)},
            {"host_kinds", {{"pinned", nullptr}, {"registered", nullptr}}},
            {"devices", Json::array()}};
  for (const DeviceView& device : process.devices) {
    json["devices"].push_back(device_json(device));
  }
  return json;
}

Json hidden_json(const HiddenProcess& hidden) {
  Json json{{"id", hidden.id}, {"pid", hidden.pid}, {"ns_pid", hidden.pid}};
  for (const char* key : {"label", "container_id", "rank"}) {
    json[key] = nullptr;
  }
  json["state"] = to_text(segment::ProcessState::Unreadable);
  json["command"] = nullptr;
  json["uid"] = hidden.uid;
  for (const char* key : {"started", "inner_pool", "mode", "mode_reason", "layer", "recording", "host_kinds"}) {
    json[key] = nullptr;
  }
  json["devices"] = Json::array();
  return json;
}

Json node_device_json(const NodeDevice& device, std::uint64_t now_ns) {
  Json age = nullptr;
  if (device.used && now_ns >= device.used_time_ns) {
    age = seconds(now_ns - device.used_time_ns);
  }
  return {{"uuid", device.uuid},
          {"name", text_or_null(device.name)},
          {"simulated", device.simulated},
          {"node_index", nullptr},
          {"pci_bus_id", text_or_null(device.pci_bus_id)},
          {"capacity_bytes", count_or_null(device.capacity)},
          {"used_bytes", or_null(device.used)},
          {"used_source", device.used ? Json("program") : Json(nullptr)},
          {"used_age_s", std::move(age)},
          {"held_bytes", device.held},
          {"cached_bytes", device.cached},
          {"not_ours_bytes", or_null(device.not_ours())}};
}

}  // namespace

std::string ps_json(const View& view) {
  Json json{{"schema", 1},
            {"host", view.host},
            {"time", seconds(view.time_ns)},
            {"devices", Json::array()},
            {"processes", Json::array()}};
  for (const NodeDevice& device : node_devices(view)) {
    json["devices"].push_back(node_device_json(device, view.time_ns));
  }
  for (const ProcessView& process : view.processes) {
    json["processes"].push_back(process_json(process));
  }
  for (const HiddenProcess& hidden : view.hidden) {
    json["processes"].push_back(hidden_json(hidden));
  }
  return document(json);
}

std::string show_json(const ProcessView& process, std::uint64_t time_ns) {
  Json json{{"schema", 1}, {"time", seconds(time_ns)}};
  json.update(process_json(process));
  json["settings"] = nullptr;
  json["coverage"] = nullptr;
  return document(json);
}

std::string results_json(const std::vector<ActResult>& results) {
  Json json{{"schema", 1}, {"results", Json::array()}};
  for (const ActResult& result : results) {
    json["results"].push_back({{"id", result.id},
                               {"pid", result.pid > 0 ? Json(result.pid) : Json(nullptr)},
                               {"device", result.device},
                               {"status", result.status},
                               {"detail", text_or_null(result.detail)}});
  }
  return document(json);
}

}  // namespace tidemark::viewer
