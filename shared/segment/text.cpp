#include "shared/segment/text.hpp"

#include <algorithm>
#include <cstdint>

namespace tidemark::segment {
namespace {

struct Character {
  std::size_t length = 1;
  bool is_safe = false;
};

// Line direction overrides can make a shown name read differently from what it is.
bool is_direction_mark(std::uint32_t code) {
  return code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// The character at the start of `text`, which isn't empty. What is not valid UTF-8 counts as one unsafe byte.
Character next_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    return {1, first >= 0x20 && first != 0x7F};
  }
  std::size_t length = 0;
  std::uint32_t code = 0;
  std::uint32_t smallest = 0;  // anything below has a shorter form, so this one is invalid
  if ((first & 0xE0) == 0xC0) {
    length = 2, code = first & 0x1F, smallest = 0x80;
  } else if ((first & 0xF0) == 0xE0) {
    length = 3, code = first & 0x0F, smallest = 0x800;
  } else if ((first & 0xF8) == 0xF0) {
    length = 4, code = first & 0x07, smallest = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) {
    return {};
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return {};
    }
    code = (code << 6) | (byte(i) & 0x3F);
  }
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest || code > 0x10FFFF || is_surrogate) {
    return {};
  }
  const bool is_control = code >= 0x80 && code <= 0x9F;
  return {length, !is_control && !is_direction_mark(code)};
}

}  // namespace

std::string clean_text(std::string_view bytes) {
  bytes = bytes.substr(0, bytes.find('\0'));
  // Nearly always all of it is plain.
  const auto odd = std::find_if(bytes.begin(), bytes.end(), [](char c) { return c < 0x20 || c > 0x7E; });
  std::string clean;
  clean.reserve(bytes.size());
  clean.append(bytes.begin(), odd);
  bytes.remove_prefix(static_cast<std::size_t>(odd - bytes.begin()));
  while (!bytes.empty()) {
    const Character character = next_character(bytes);
    if (character.is_safe) {
      clean += bytes.substr(0, character.length);
    } else {
      clean += '?';
    }
    bytes.remove_prefix(character.length);
  }
  return clean;
}

}  // namespace tidemark::segment
