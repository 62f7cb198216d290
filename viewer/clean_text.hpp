// Text that others wrote (command lines, labels, device names), made fit for a terminal: no control byte, no invalid
// UTF-8, no invisible or direction-changing character, a known width. Pure but for wcwidth, which follows LC_CTYPE.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// What the terminal can show. In a C locale only ASCII: anything else would come out as garbage.
enum class Charset { Ascii, Utf8 };

// The charset of the current LC_CTYPE; Ascii until main has called setlocale.
[[nodiscard]] Charset terminal_charset();

// Code points of `raw`; U+FFFD for each byte that is not part of valid UTF-8.
[[nodiscard]] std::u32string decode_utf8(std::string_view raw);
[[nodiscard]] std::string encode_utf8(std::u32string_view points);

// Columns one clean character takes: 1 or 2.
[[nodiscard]] std::size_t columns_of(char32_t point);
[[nodiscard]] std::size_t columns_of(std::u32string_view clean);

// Control bytes become a blank, what cannot be shown U+FFFD ("?" in Ascii); characters of no width are left out.
[[nodiscard]] std::u32string clean_points(std::string_view raw, Charset charset);
[[nodiscard]] std::string clean_text(std::string_view raw, Charset charset);
// The same for a file, where no terminal's charset and width matter: UTF-8.
[[nodiscard]] std::string clean_bytes(std::string_view raw);
// A JSON document that says the same, with what isn't fit for a terminal as \uXXXX. Requires: valid JSON.
[[nodiscard]] std::string escape_in_json(std::string json);
// The same for several lines: newlines stay.
[[nodiscard]] std::string clean_lines(std::string_view raw, Charset charset);

// At most `columns` wide; what was cut shows as "…" ("~" in Ascii). Requires: `clean` comes from clean_points.
[[nodiscard]] std::u32string clip(std::u32string_view clean, std::size_t columns, Charset charset);

}  // namespace tidemark::viewer
