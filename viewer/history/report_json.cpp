#include "viewer/history/report_json.hpp"

#include "viewer/clean_text.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace tidemark::viewer {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }
Json time_or_null(std::uint64_t ns) { return ns == 0 ? Json(nullptr) : Json(seconds(ns)); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_held(Json& json, const Held& held) {
  json["bytes"] = held.bytes;
  json["requested_bytes"] = held.requested;
  json["blocks"] = held.blocks;
  json["oldest"] = held.oldest_ns ? Json(seconds(*held.oldest_ns)) : Json(nullptr);
}

Json frames_json(const Frames& frames) {
  Json list = Json::array();
  for (const Frame& frame : frames) {
    list.push_back({{"name", frame.name},
                    {"filename", frame.file == kNoFile ? Json(nullptr) : text_or_null(frame.file)},
                    {"line", frame.line == 0 ? Json(nullptr) : Json(frame.line)}});
  }
  return list;
}

Json stacks_json(const DeviceReport& device) {
  Json list = Json::array();
  for (const StackHeld& stack : device.stacks) {
    Json entry;
    add_held(entry, stack.held);
    entry["frames"] = frames_json(stack.frames);
    list.push_back(std::move(entry));
  }
  return list;
}

Json sizes_json(const DeviceReport& device) {
  Json list = Json::array();
  for (const SizeHeld& size : device.sizes) {
    Json entry{{"up_to_bytes", size.up_to}};
    add_held(entry, size.held);
    list.push_back(std::move(entry));
  }
  return list;
}

Json ages_json(const DeviceReport& device) {
  Json list = Json::array();
  for (const AgeHeld& age : device.ages) {
    Json entry{{"from_s", or_null(age.from)}, {"to_s", or_null(age.to)}};
    add_held(entry, age.held);
    list.push_back(std::move(entry));
  }
  return list;
}

Json pools_json(const DeviceReport& device) {
  Json list = Json::array();
  for (const PoolReport& pool : device.pools) {
    list.push_back({{"pool", pool.name},
                    {"segments", pool.segments},
                    {"reserved_bytes", pool.reserved},
                    {"held_bytes", pool.allocated},
                    {"pending_bytes", pool.pending},
                    {"free_bytes", pool.free},
                    {"free_blocks", pool.free_blocks},
                    {"largest_free_bytes", pool.largest_free},
                    {"split_free_bytes", pool.split_free},
                    {"idle_segments", pool.idle_segments}});
  }
  return list;
}

Json part_json(const TimePart& part) {
  return {{"time", seconds(part.time_ns)}, {"held_bytes", part.allocated}, {"reserved_bytes", part.reserved}};
}

Json timeline_json(const DeviceReport& device) {
  if (device.timeline.empty()) {
    return nullptr;
  }
  Json parts = Json::array();
  for (const TimePart& part : device.timeline) {
    parts.push_back(part_json(part));
  }
  return {
      {"end", seconds(device.timeline_end_ns)}, {"highest", part_json(*device.highest)}, {"parts", std::move(parts)}};
}

Json out_of_memory_json(const DeviceReport& device) {
  Json list = Json::array();
  for (const OutOfMemory& event : device.out_of_memory) {
    list.push_back({{"time", seconds(event.time_ns)},
                    {"last_time", seconds(event.last_time_ns)},
                    {"times", event.times},
                    {"requested_bytes", event.requested},
                    {"device_free_bytes", event.device_free},
                    {"limit_bytes", or_null(event.limit)},
                    {"frames", frames_json(event.frames)}});
  }
  return list;
}

Json device_json(const DeviceReport& device) {
  Json json{{"device", device.device}, {"name", text_or_null(device.model)}};
  Json held;
  add_held(held, device.all);
  json["held"] = std::move(held);
  json["pending_bytes"] = device.pending;
  json["reserved_bytes"] = device.reserved;
  json["segments"] = device.segments;
  json["by_stack"] = stacks_json(device);
  json["by_size"] = sizes_json(device);
  json["by_age"] = ages_json(device);
  json["pools"] = pools_json(device);
  json["events"] = device.events;
  json["timeline"] = timeline_json(device);
  json["out_of_memory"] = out_of_memory_json(device);
  return json;
}

Json document(const Report& report) {
  const history::Recording& recording = report.recording;
  const bool is_recorded = recording.enabled != history::Enabled::Off;
  Json json{{"schema", 1},
            {"id", text_or_null(report.source.id)},
            {"pid", recording.pid == 0 ? Json(nullptr) : Json(recording.pid)},
            {"title", report.source.title},
            {"time", time_or_null(report.time_ns)},
            {"has_ended", report.source.has_ended},
            {"recorded", is_recorded ? Json(to_text(recording.enabled)) : Json(nullptr)},
            {"stacks", is_recorded ? Json(to_text(recording.stacks)) : Json(nullptr)},
            {"since", is_recorded ? time_or_null(recording.since_ns) : Json(nullptr)},
            {"lost", is_recorded ? Json(recording.lost) : Json(nullptr)},
            {"devices", Json::array()}};
  for (const DeviceReport& device : report.devices) {
    json["devices"].push_back(device_json(device));
  }
  return json;
}

// [address as text (more digits than a number of JavaScript has), bytes, pool, [[bytes, state, place in by_stack],
// ...]]
Json map_json(const MemorySnapshot& snapshot, const history::Device& device, const DeviceReport& report) {
  std::map<std::string, std::size_t> by_key;
  for (std::size_t i = 0; i < report.stacks.size(); ++i) {
    by_key.emplace(stack_key(report.stacks[i].frames), i);
  }
  std::unordered_map<const Frames*, std::size_t> places;  // a key is long, and blocks are many
  const auto place_of = [&](const Frames& frames) {
    const auto [known, is_new] = places.try_emplace(&frames, 0);
    known->second = is_new ? by_key.at(stack_key(frames)) : known->second;
    return known->second;
  };
  Json map = Json::array();
  for (const history::Segment& segment : device.segments) {
    Json blocks = Json::array();
    for (const history::Block& block : segment.blocks) {
      const Json place = is_held(block) ? Json(place_of(frames_of(snapshot, block))) : Json(nullptr);
      blocks.push_back(Json::array({block.size, to_text(block.state), place}));
    }
    map.push_back(Json::array(
        {std::to_string(segment.address), segment.size, segment.is_large ? "large" : "small", std::move(blocks)}));
  }
  return map;
}

std::string dump(const Json& json) { return escape_in_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

}  // namespace

std::string report_json(const Report& report) { return dump(document(report)); }

std::string report_json_with_map(const Report& report, const MemorySnapshot& snapshot) {
  Json json = document(report);
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    json["devices"][i]["map"] = map_json(snapshot, snapshot.devices[i], report.devices[i]);
  }
  return dump(json);
}

}  // namespace tidemark::viewer
