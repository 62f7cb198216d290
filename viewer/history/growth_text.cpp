#include "viewer/history/growth_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "viewer/clean_text.hpp"
#include "viewer/history/compare_text.hpp"
#include "viewer/history/frame_text.hpp"
#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"

namespace tidemark::viewer {
namespace {

using Json = nlohmann::ordered_json;

std::string blocks(std::uint64_t count) {
  return fmt::format("{} {}", grouped(static_cast<std::int64_t>(count)), count == 1 ? "block" : "blocks");
}

std::string growing_text(const Growing& growing, Charset charset) {
  std::string text =
      fmt::format("    {}, {}: {} of {} from the first half still there; holds {} in {}\n",
                  signed_size(static_cast<std::int64_t>(growing.grew_bytes())),
                  signed_blocks(static_cast<std::int64_t>(growing.grew_blocks())), blocks(growing.survived.blocks),
                  size_words(growing.survived.bytes), size_words(growing.end.bytes), blocks(growing.end.blocks));
  for (const std::string& frame : frame_lines(growing.frames)) {
    text += "        " + clean_text(frame, charset) + "\n";
  }
  return text;
}

// Below a line that shows growth nobody shall read that there is none.
std::string rest_text(const DeviceGrowth& device) {
  std::string text;
  if (device.unknown_bytes > 0) {
    text += fmt::format("  {} grew whose stack is not known\n", size_words(device.unknown_bytes));
  }
  const bool has_grown = device.end.bytes > device.middle.bytes;
  if (device.growing.empty() && has_grown && device.late_bytes > 0) {
    text +=
        fmt::format("  {} grew by what had kept nothing before; with a longer --for it is seen whether that stays\n",
                    size_words(device.late_bytes));
  }
  return device.growing.empty() && text.empty() ? "  nothing grew and stayed\n" : text;
}

Json held_json(const Held& held) { return {{"bytes", held.bytes}, {"blocks", held.blocks}}; }

Json growing_json(const Growing& growing) {
  Json frames = Json::array();
  for (const Frame& frame : growing.frames) {
    frames.push_back({{"name", frame.name}, {"filename", frame.file}, {"line", frame.line}});
  }
  return {{"frames", std::move(frames)},
          {"grew_bytes", growing.grew_bytes()},
          {"grew_blocks", growing.grew_blocks()},
          {"survived", held_json(growing.survived)},
          {"held", held_json(growing.end)}};
}

}  // namespace

std::string growth_text(const std::vector<DeviceGrowth>& devices, Charset charset, std::size_t most) {
  std::string text;
  for (const DeviceGrowth& device : devices) {
    text += fmt::format("{}  held {} -> {} in the second half\n", device.device, size_words(device.middle.bytes),
                        size_words(device.end.bytes));
    text += device.growing.empty() ? "" : "  grew and stayed\n";
    const std::size_t shown = std::min(most, device.growing.size());
    for (std::size_t i = 0; i < shown; ++i) {
      text += growing_text(device.growing[i], charset);
    }
    if (shown < device.growing.size()) {
      text += fmt::format("    and {} smaller (--top 0 shows all)\n", device.growing.size() - shown);
    }
    text += rest_text(device);
  }
  return text.empty() ? "the process has no device yet\n" : text;
}

std::string growth_json(const std::vector<DeviceGrowth>& devices, double seconds) {
  Json json{{"schema", 1}, {"seconds", seconds}, {"devices", Json::array()}};
  for (const DeviceGrowth& device : devices) {
    Json growing = Json::array();
    for (const Growing& one : device.growing) {
      growing.push_back(growing_json(one));
    }
    json["devices"].push_back({{"device", device.device},
                               {"before", held_json(device.middle)},
                               {"after", held_json(device.end)},
                               {"grew", std::move(growing)},
                               {"grew_unknown_bytes", device.unknown_bytes},
                               {"grew_late_bytes", device.late_bytes}});
  }
  return escape_in_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tidemark::viewer
