#include "viewer/history/frame_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "viewer/clean_text.hpp"
#include "viewer/history/holders.hpp"

namespace tidemark::viewer {
namespace {

// In that format a semicolon ends a frame and a newline the stack.
std::string folded_frame(std::string_view name) {
  std::string text = clean_bytes(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

}  // namespace

std::string frame_text(const Frame& frame) {
  // A module's name is in its frame's own already.
  const bool is_place = !frame.file.empty() && frame.file != kNoFile && frame.line != 0;
  return is_place ? fmt::format("{} ({}:{})", frame.name, frame.file, frame.line) : frame.name;
}

std::vector<std::string> frame_lines(const Frames& frames) {
  std::vector<std::string> lines;
  for (auto frame = frames.begin(); frame != frames.end();) {
    const auto next = std::find_if(frame, frames.end(), [&](const Frame& other) { return other != *frame; });
    const std::string text = frame_text(*frame);
    lines.push_back(next - frame == 1 ? text : fmt::format("{} x {}", text, next - frame));
    frame = next;
  }
  if (lines.empty()) {
    lines.emplace_back(kNoStack);
  }
  return lines;
}

std::string folded_text(const MemorySnapshot& snapshot) {
  std::string text;
  for (const history::Device& device : snapshot.devices) {
    for (const StackHeld& stack : held_by_stack(snapshot, device)) {
      std::string line = snapshot.devices.size() > 1 ? device_name(device.info) + ";" : "";
      for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
        line += folded_frame(frame->name) + ";";
      }
      if (stack.frames.empty()) {
        line += std::string{kNoStack} + ";";
      }
      line.back() = ' ';
      text += line + fmt::format("{}\n", stack.held.bytes);
    }
  }
  return text;
}

}  // namespace tidemark::viewer
