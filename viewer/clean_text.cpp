#include "viewer/clean_text.hpp"

#include <fmt/format.h>
#include <langinfo.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr char32_t kReplacement = U'\uFFFD';

struct Decoded {
  char32_t point = kReplacement;
  std::size_t length = 1;
};

// The first character of `bytes`, which is not empty. Overlong forms, surrogates and what is above U+10FFFF are
// invalid.
Decoded decode_one(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) {
    return {.point = first, .length = 1};
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) {
    return {};
  }
  char32_t point = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return {};
    }
    point = (point << 6) | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
    return {};
  }
  return {.point = point, .length = length};
}

bool is_control(char32_t point) { return point < 0x20 || (point >= 0x7F && point < 0xA0); }

// What has no shape and changes what is around it: direction, breaks, shaping, tags. wcwidth() gives some of them a
// column, depending on the C library.
bool is_format(char32_t point) {
  constexpr std::array<std::pair<char32_t, char32_t>, 10> kRanges{{{0xAD, 0xAD},
                                                                   {0x61C, 0x61C},
                                                                   {0x180E, 0x180E},
                                                                   {0x200B, 0x200F},
                                                                   {0x2028, 0x202E},
                                                                   {0x2060, 0x206F},
                                                                   {0xFEFF, 0xFEFF},
                                                                   {0xFFF9, 0xFFFB},
                                                                   {0x1D173, 0x1D17A},
                                                                   {0xE0000, 0xE0FFF}}};
  return std::ranges::any_of(kRanges, [&](const auto& range) { return point >= range.first && point <= range.second; });
}

}  // namespace

Charset terminal_charset() {
  return std::string_view{nl_langinfo(CODESET)} == "UTF-8" ? Charset::Utf8 : Charset::Ascii;
}

std::u32string decode_utf8(std::string_view raw) {
  std::u32string points;
  points.reserve(raw.size());
  while (!raw.empty()) {
    const Decoded next = decode_one(raw);
    points += next.point;
    raw.remove_prefix(next.length);
  }
  return points;
}

std::string encode_utf8(std::u32string_view points) {
  std::string bytes;
  bytes.reserve(points.size());
  const auto tail = [&](char32_t point, int shift) { bytes += static_cast<char>(0x80U | ((point >> shift) & 0x3FU)); };
  for (const char32_t point : points) {
    if (point < 0x80) {
      bytes += static_cast<char>(point);
    } else if (point < 0x800) {
      bytes += static_cast<char>(0xC0U | (point >> 6));
      tail(point, 0);
    } else if (point < 0x10000) {
      bytes += static_cast<char>(0xE0U | (point >> 12));
      tail(point, 6);
      tail(point, 0);
    } else {
      bytes += static_cast<char>(0xF0U | (point >> 18));
      tail(point, 12);
      tail(point, 6);
      tail(point, 0);
    }
  }
  return bytes;
}

std::size_t columns_of(char32_t point) { return point >= 0x80 && wcwidth(static_cast<wchar_t>(point)) == 2 ? 2 : 1; }

std::size_t columns_of(std::u32string_view clean) {
  std::size_t columns = 0;
  for (const char32_t point : clean) {
    columns += columns_of(point);
  }
  return columns;
}

std::u32string clean_points(std::string_view raw, Charset charset) {
  std::u32string clean;
  for (const char32_t point : decode_utf8(raw)) {
    if (is_control(point)) {
      clean += U' ';
    } else if (point < 0x80) {
      clean += point;
    } else if (charset == Charset::Ascii) {
      clean += U'?';
    } else if (is_format(point)) {
      continue;
    } else if (const int width = wcwidth(static_cast<wchar_t>(point)); width != 0) {
      clean += width < 0 ? kReplacement : point;
    }
  }
  return clean;
}

std::string clean_text(std::string_view raw, Charset charset) { return encode_utf8(clean_points(raw, charset)); }

std::string clean_bytes(std::string_view raw) {
  std::string clean;
  clean.reserve(raw.size());
  while (!raw.empty()) {
    const Decoded next = decode_one(raw);
    if (is_control(next.point)) {
      clean += ' ';
    } else if (!is_format(next.point)) {
      clean += next.length == 1 && next.point == kReplacement ? "\uFFFD" : raw.substr(0, next.length);
    }
    raw.remove_prefix(next.length);
  }
  return clean;
}

std::string escape_in_json(std::string json) {
  if (std::ranges::none_of(json, [](char c) { return static_cast<std::uint8_t>(c) >= 0x7F; })) {
    return json;
  }
  std::string escaped;
  escaped.reserve(json.size());
  for (std::string_view rest = json; !rest.empty();) {
    const Decoded next = decode_one(rest);
    if (!is_control(next.point) && !is_format(next.point)) {
      escaped += rest.substr(0, next.length);
    } else if (next.point < 0x20) {
      escaped += static_cast<char>(next.point);  // between values; in a text it is escaped already
    } else if (next.point < 0x10000) {
      escaped += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(next.point));
    } else {
      const std::uint32_t above = next.point - 0x10000;
      escaped += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
    }
    rest.remove_prefix(next.length);
  }
  return escaped;
}

std::string clean_lines(std::string_view raw, Charset charset) {
  std::string lines;
  for (;;) {
    const std::size_t end = raw.find('\n');
    lines += clean_text(raw.substr(0, end), charset);
    if (end == std::string_view::npos) {
      return lines;
    }
    lines += '\n';
    raw.remove_prefix(end + 1);
  }
}

std::u32string clip(std::u32string_view clean, std::size_t columns, Charset charset) {
  if (columns_of(clean) <= columns) {
    return std::u32string{clean};
  }
  if (columns == 0) {
    return {};
  }
  std::u32string cut;
  std::size_t used = 0;
  for (const char32_t point : clean) {
    const std::size_t width = columns_of(point);
    if (used + width > columns - 1) {
      break;
    }
    cut += point;
    used += width;
  }
  cut += charset == Charset::Utf8 ? U'…' : U'~';
  return cut;
}

}  // namespace tidemark::viewer
