// A page of text that may be longer than the screen: made for a width, then scrolled. Pure.
#pragma once

#include "viewer/tui/canvas.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

struct Span {
  int column = 0;
  std::string text{};
  Style style = Style::Normal;
};

using PageLine = std::vector<Span>;

struct Page {
  std::string title;
  std::vector<PageLine> lines;
};

// Words of `text`, `indent` columns in, on as many lines of `width` columns as they take; later lines `hang` columns
// further in. A number stays with its unit.
void add_paragraph(std::vector<PageLine>& lines, std::string_view text, int width, int indent = 0, int hang = 0,
                   Style style = Style::Normal);

// How far a page can be scrolled that shows `rows` lines at a time.
[[nodiscard]] std::size_t furthest_scroll(const Page& page, int rows);

// The title, then lines from `scroll` on, as many as fit above the footer.
void draw_page(Canvas& canvas, const Page& page, std::size_t scroll);

}  // namespace tidemark::viewer
