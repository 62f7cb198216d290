#include "viewer/history/compare_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "viewer/clean_text.hpp"
#include "viewer/history/frame_text.hpp"
#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

namespace tidemark::viewer {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

char sign(std::int64_t value) { return value < 0 ? '-' : '+'; }

std::string change_line(const Change& change, std::string_view what) {
  return fmt::format("    {:>11}  {:>11}  {} -> {}{}\n", signed_size(change.bytes()), signed_blocks(change.blocks()),
                     size_words(change.before.bytes), size_words(change.after.bytes), what);
}

std::string change_text(const Change& change, By by, Charset charset) {
  if (by == By::Size) {
    return change_line(change, fmt::format("  in blocks up to {}", size_words(change.up_to)));
  }
  std::string text = change_line(change, "");
  for (const std::string& frame : frame_lines(change.frames)) {
    text += "        " + clean_text(frame, charset) + "\n";
  }
  return text;
}

// The largest gains, and from the other end the largest losses.
std::string changes_text(const std::vector<Change>& changes, By by, Charset charset, std::size_t most) {
  std::string text;
  const auto losses = static_cast<std::size_t>(
      std::count_if(changes.begin(), changes.end(), [](const Change& change) { return change.bytes() < 0; }));
  const std::size_t gains = changes.size() - losses;
  const std::size_t shown_gains = std::min(gains, most);
  const std::size_t shown_losses = std::min(losses, most);
  for (std::size_t i = 0; i < shown_gains; ++i) {
    text += change_text(changes[i], by, charset);
  }
  for (std::size_t i = 0; i < shown_losses; ++i) {
    text += change_text(changes[changes.size() - 1 - i], by, charset);
  }
  const std::size_t hidden = changes.size() - shown_gains - shown_losses;
  return hidden == 0 ? text : text + fmt::format("    and {} smaller (--top 0 shows all)\n", hidden);
}

bool is_bytes(std::string_view counter) { return counter.find("bytes") != std::string_view::npos; }

std::string counter_text(std::string_view counter, std::int64_t value) {
  return is_bytes(counter) && value >= 0 ? size_column(static_cast<std::uint64_t>(value)) : grouped(value);
}

std::string counter_difference(const CounterChange& change) {
  const std::int64_t difference = change.after - change.before;
  return is_bytes(change.counter) ? signed_size(difference)
                                  : fmt::format("{}{}", difference > 0 ? "+" : "", grouped(difference));
}

Json held_json(const Held& held) { return {{"bytes", held.bytes}, {"blocks", held.blocks}}; }

Json change_json(const Change& change, By by) {
  Json json;
  if (by == By::Stack) {
    json["frames"] = Json::array();
    for (const Frame& frame : change.frames) {
      json["frames"].push_back({{"name", frame.name}, {"filename", frame.file}, {"line", frame.line}});
    }
  } else {
    json["up_to_bytes"] = change.up_to;
  }
  json["before"] = held_json(change.before);
  json["after"] = held_json(change.after);
  return json;
}

Json changes_json(const std::vector<Change>& changes, By by) {
  Json list = Json::array();
  for (const Change& change : changes) {
    list.push_back(change_json(change, by));
  }
  return list;
}

std::string dump(const Json& json) { return escape_in_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

}  // namespace

std::string signed_size(std::int64_t bytes) {
  return bytes == 0 ? "0 B" : fmt::format("{}{}", sign(bytes), size_words(magnitude(bytes)));
}

std::string signed_blocks(std::int64_t blocks) {
  return fmt::format("{}{} {}", blocks > 0 ? "+" : "", grouped(blocks), magnitude(blocks) == 1 ? "block" : "blocks");
}

std::string compare_text(const std::vector<DeviceChange>& devices, By by, Charset charset, std::size_t most) {
  std::string text;
  for (const DeviceChange& device : devices) {
    const auto difference = static_cast<std::int64_t>(device.after.bytes - device.before.bytes);
    const auto blocks = static_cast<std::int64_t>(device.after.blocks - device.before.blocks);
    text += fmt::format("{}  held {} -> {} ({}, {})\n", device.device, size_words(device.before.bytes),
                        size_words(device.after.bytes), signed_size(difference), signed_blocks(blocks));
    const std::vector<Change>& changes = by == By::Stack ? device.stacks : device.sizes;
    text += fmt::format("  by {}{}\n", by == By::Stack ? "stack" : "size", changes.empty() ? ": the same" : "");
    text += changes_text(changes, by, charset, most);
  }
  return text.empty() ? "no device in either\n" : text;
}

std::string compare_text(const std::vector<CounterChange>& counters, Charset charset) {
  if (counters.empty()) {
    return "every counter is the same\n";
  }
  TextTable table{{{"DEVICE", Align::Left},
                   {"COUNTER", Align::Left},
                   {"BEFORE", Align::Right},
                   {"AFTER", Align::Right},
                   {"CHANGE", Align::Right}},
                  charset};
  for (const CounterChange& change : counters) {
    table.add_row({change.device, change.counter, counter_text(change.counter, change.before),
                   counter_text(change.counter, change.after), counter_difference(change)});
  }
  return table.text();
}

std::string compare_json(const std::vector<DeviceChange>& devices) {
  Json json{{"schema", 1}, {"devices", Json::array()}};
  for (const DeviceChange& device : devices) {
    json["devices"].push_back({{"device", device.device},
                               {"before", held_json(device.before)},
                               {"after", held_json(device.after)},
                               {"by_stack", changes_json(device.stacks, By::Stack)},
                               {"by_size", changes_json(device.sizes, By::Size)}});
  }
  return dump(json);
}

std::string compare_json(const std::vector<CounterChange>& counters) {
  Json json{{"schema", 1}, {"counters", Json::array()}};
  for (const CounterChange& change : counters) {
    json["counters"].push_back(
        {{"device", change.device}, {"counter", change.counter}, {"before", change.before}, {"after", change.after}});
  }
  return dump(json);
}

}  // namespace tidemark::viewer
