#include "viewer/tui/page.hpp"

#include "viewer/tui/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 12> kUnits{"B",   "KiB", "MiB", "GiB", "TiB", "PiB",
                                                    "EiB", "ns",  "us",  "ms",  "s",   "%"};
  return std::any_of(kUnits.begin(), kUnits.end(), [&](std::string_view unit) {
    return word.starts_with(unit) && word.find_first_not_of(",;.:)", unit.size()) == std::string_view::npos;
  });
}

// Words between blanks; a unit belongs to the number before it.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
      break;
    }
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (is_unit(word) && !words.empty() && words.back().back() >= '0' && words.back().back() <= '9') {
      words.back() += fmt::format(" {}", word);
    } else {
      words.emplace_back(word);
    }
    text.remove_prefix(end);
  }
  return words;
}

int columns_in(std::string_view text) { return static_cast<int>(columns_of(clean_points(text, Charset::Utf8))); }

// A word that no line is long enough for, a path or a uuid, goes on in the next one.
constexpr int kNarrowestPart = 8;

std::string take_part(std::string& word, int width) {
  std::u32string points = decode_utf8(word);
  std::size_t taken = 0;
  for (int columns = 0; taken < points.size(); ++taken) {
    columns += columns_in(encode_utf8({&points[taken], 1}));
    if (columns > width) {
      break;
    }
  }
  const std::string part = encode_utf8({points.data(), taken});
  word = encode_utf8({points.data() + taken, points.size() - taken});
  return part;
}

}  // namespace

void add_paragraph(std::vector<PageLine>& lines, std::string_view text, int width, int indent, int hang, Style style) {
  std::string line;
  int at = indent;
  const auto end_line = [&] {
    lines.push_back({{.column = at, .text = line, .style = style}});
    line.clear();
    at = indent + hang;
  };
  for (std::string& word : words_of(text)) {
    if (!line.empty() && at + columns_in(line) + 1 + columns_in(word) > width) {
      end_line();
    }
    while (line.empty() && columns_in(word) > width - at && width - at >= kNarrowestPart) {
      line = take_part(word, width - at);
      end_line();
    }
    line += line.empty() ? word : " " + word;
  }
  end_line();
}

std::size_t furthest_scroll(const Page& page, int rows) {
  const auto shown = static_cast<std::size_t>(std::max(rows, 1));
  return page.lines.size() > shown ? page.lines.size() - shown : 0;
}

void draw_page(Canvas& canvas, const Page& page, std::size_t scroll) {
  const int rows = page_rows(canvas.size());
  scroll = std::min(scroll, furthest_scroll(page, rows));
  canvas.fill_row(0, Style::Header);
  const std::size_t last = std::min(scroll + static_cast<std::size_t>(std::max(rows, 0)), page.lines.size());
  const std::string where =
      page.lines.size() <= last - scroll ? "" : fmt::format("{}-{} of {}", scroll + 1, last, page.lines.size());
  const int room = canvas.size().columns - static_cast<int>(where.size()) - (where.empty() ? 0 : 1);
  canvas.put(0, 0, page.title, Style::Header, room);
  canvas.put_right(canvas.size().columns, 0, where, Style::Header);
  for (std::size_t i = scroll; i < last; ++i) {
    for (const Span& span : page.lines[i]) {
      canvas.put(span.column, kPageTop + static_cast<int>(i - scroll), span.text, span.style);
    }
  }
}

}  // namespace tidemark::viewer
