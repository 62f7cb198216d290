#include "viewer/symbols/source_frame.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace tidemark::viewer {
namespace {

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%" PRIx64, number);
  return text.data();
}

}  // namespace

std::string location_text(const Location& location, const SourceFrame* frame) {
  if (frame != nullptr && !frame->function.empty()) {
    std::string text = frame->function;
    if (!frame->file.empty()) {
      text += " at " + frame->file;
      if (frame->line > 0) {
        text += ":" + std::to_string(frame->line);
      }
    }
    return text;
  }
  if (location.module.empty()) {
    return hexadecimal(location.offset);
  }
  return location.module.substr(location.module.rfind('/') + 1) + "+" + hexadecimal(location.offset);
}

}  // namespace tidemark::viewer
