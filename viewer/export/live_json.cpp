#include "viewer/export/live_json.hpp"

#include "viewer/clean_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace tidemark::viewer {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

// Columns, not rows: a third of the size.
Json timeline_json(const Timeline& timeline, const std::string& uuid) {
  const auto found = timeline.by_uuid().find(uuid);
  Json json{{"time", Json::array()}, {"held_bytes", Json::array()}, {"used_bytes", Json::array()}};
  if (found != timeline.by_uuid().end()) {
    for (const TimelinePoint& point : found->second) {
      json["time"].push_back(std::floor(point.time));
      json["held_bytes"].push_back(point.held);
      json["used_bytes"].push_back(or_null(point.used));
    }
  }
  return json;
}

Json device_json(const KnownDevice& known, const Timeline& timeline) {
  const NodeDevice& device = known.device;
  return {{"uuid", device.uuid},
          {"device", device.index ? Json("gpu:" + std::to_string(*device.index)) : text_or_null(device.ordinal)},
          {"name", text_or_null(device.name)},
          {"capacity_bytes", device.capacity == 0 ? Json(nullptr) : Json(device.capacity)},
          {"used_bytes", or_null(device.used)},
          {"held_bytes", device.held},
          {"cached_bytes", device.cached},
          {"not_ours_bytes", or_null(device.not_ours())},
          {"processes", known.clients},
          {"timeline", timeline_json(timeline, device.uuid)}};
}

// `device` null: it has none yet.
Json row_json(const ProcessView& process, const DeviceView* device) {
  const segment::Rank& rank = process.snapshot.identity.rank;
  const bool elsewhere = process.is_alive() && process.snapshot.pid == 0;
  Json json{{"id", process.id()},
            {"pid", elsewhere ? Json(nullptr) : Json(process.pid())},
            {"ns_pid", process.snapshot.identity.pid},
            {"label", text_or_null(process.snapshot.identity.label)},
            {"command", text_or_null(process.snapshot.identity.command)},
            {"rank", rank.global < 0 ? Json(nullptr) : Json(rank.global)},
            {"state", to_text(process.snapshot.state)}};
  if (device != nullptr) {
    const Figures& figures = device->figures;
    json["device"] = device->name;
    json["uuid"] = device->uuid;
    json["allocated_bytes"] = figures.allocated;
    json["peak_bytes"] = figures.allocated_peak;
    json["reserved_bytes"] = figures.reserved;
    json["held_bytes"] = figures.held;
    json["limit_bytes"] = or_null(figures.limit);
    json["hit_percent"] = or_null(figures.hit_percent);
    json["ooms"] = figures.ooms;
  }
  return json;
}

Json rank_json(const Member& member) { return {{"rank", member.rank}, {"peak_bytes", member.allocated_peak}}; }

// Of a job's ranks on all devices: who needed most, who least, and how far apart they are.
Json group_json(const GroupKey& key, const Group& group) {
  Json json{{"command", key.command},
            {"label", text_or_null(key.label)},
            {"processes", group.processes},
            {"exited", group.exited},
            {"killed", group.killed}};
  std::uint64_t allocated = 0;
  std::uint64_t held = 0;
  std::uint64_t last_oom_ns = 0;
  std::vector<Member> ranks;
  for (const auto& [name, device] : group.devices) {
    allocated += device.now.sums.allocated;
    held += device.now.sums.held;
    last_oom_ns = std::max(last_oom_ns, device.last_oom_ns);
    for (const Member& member : device.now.members) {
      const auto known =
          std::find_if(ranks.begin(), ranks.end(), [&](const Member& one) { return one.rank == member.rank; });
      if (known == ranks.end()) {
        ranks.push_back(member);
      } else {
        known->allocated_peak = std::max(known->allocated_peak, member.allocated_peak);
      }
    }
  }
  std::sort(ranks.begin(), ranks.end(), [](const Member& a, const Member& b) { return a.rank < b.rank; });
  const auto needs_less = [](const Member& a, const Member& b) { return a.allocated_peak < b.allocated_peak; };
  const auto lowest = std::min_element(ranks.begin(), ranks.end(), needs_less);
  const auto highest = std::max_element(ranks.begin(), ranks.end(), needs_less);
  json["allocated_bytes"] = allocated;
  json["held_bytes"] = held;
  json["last_oom"] = last_oom_ns == 0 ? Json(nullptr) : Json(seconds(last_oom_ns));
  json["ranks"] = ranks.size();
  json["highest_rank"] = ranks.empty() ? Json(nullptr) : rank_json(*highest);
  json["lowest_rank"] = ranks.empty() ? Json(nullptr) : rank_json(*lowest);
  json["spread_bytes"] = ranks.empty() ? Json(nullptr) : Json(highest->allocated_peak - lowest->allocated_peak);
  return json;
}

}  // namespace

std::string live_json(const Books& books, const std::vector<KnownDevice>& devices, const Timeline& timeline) {
  constexpr std::size_t kMostRows = 1000;  // of a screen that nobody reads to its end
  const View& view = books.view();
  Json json{
      {"host", view.host},  {"time", seconds(view.time_ns)},    {"devices", Json::array()}, {"rows", Json::array()},
      {"rows_left_out", 0}, {"unreadable", view.hidden.size()}, {"groups", Json::array()}};
  for (const KnownDevice& device : devices) {
    json["devices"].push_back(device_json(device, timeline));
  }
  std::size_t left_out = 0;
  for (const ProcessView& process : view.processes) {
    if (json["rows"].size() + process.devices.size() >= kMostRows) {
      left_out += std::max<std::size_t>(process.devices.size(), 1);
      continue;
    }
    for (const DeviceView& device : process.devices) {
      json["rows"].push_back(row_json(process, &device));
    }
    if (process.devices.empty()) {
      json["rows"].push_back(row_json(process, nullptr));
    }
  }
  json["rows_left_out"] = left_out;
  for (const auto& [key, group] : books.groups()) {
    json["groups"].push_back(group_json(key, group));
  }
  return escape_in_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + '\n';
}

}  // namespace tidemark::viewer
