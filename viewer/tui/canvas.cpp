#include "viewer/tui/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tidemark::viewer {
namespace {

// A column in eighths, empty to full; ASCII has halves.
constexpr std::array<char32_t, 9> kBlocks{U' ', U'▏', U'▎', U'▍', U'▌', U'▋', U'▊', U'▉', U'█'};
constexpr std::array<char32_t, 9> kAsciiBlocks{U' ', U' ', U' ', U' ', U'-', U'-', U'-', U'-', U'#'};

}  // namespace

Canvas::Canvas(Size size, Charset charset)
    : size_(size),
      charset_(charset),
      cells_(static_cast<std::size_t>(size.columns) * static_cast<std::size_t>(size.rows)) {}

void Canvas::put_glyph(int column, int row, char32_t glyph, Style style) {
  const int width = static_cast<int>(columns_of(glyph));
  if (!inside(column, row) || !inside(column + width - 1, row)) {
    return;
  }
  // Half of a wide character that is overwritten must not stay: the terminal would shift the line.
  if (cells_[index(column, row)].glyph == 0 && column > 0) {
    cells_[index(column - 1, row)].glyph = U' ';
  }
  const int after = column + width;
  if (inside(after, row) && cells_[index(after, row)].glyph == 0) {
    cells_[index(after, row)].glyph = U' ';
  }
  cells_[index(column, row)] = {.glyph = glyph, .style = style};
  if (width == 2) {
    cells_[index(column + 1, row)] = {.glyph = 0, .style = style};
  }
}

int Canvas::put(int column, int row, std::string_view text, Style style, int width) {
  const int room = std::min(width, size_.columns - column);
  if (room <= 0) {
    return column;
  }
  for (const char32_t point : clip(clean_points(text, charset_), static_cast<std::size_t>(room), charset_)) {
    put_glyph(column, row, point, style);
    column += static_cast<int>(columns_of(point));
  }
  return column;
}

void Canvas::put_right(int column, int row, std::string_view text, Style style) {
  const auto width = static_cast<int>(columns_of(clean_points(text, charset_)));
  put(column - width, row, text, style);
}

void Canvas::fill_row(int row, Style style) {
  for (int column = 0; column < size_.columns; ++column) {
    if (inside(column, row)) {
      cells_[index(column, row)].style = style;
    }
  }
}

void Canvas::put_bar(int column, int row, int width, std::uint64_t part, std::uint64_t whole, Style style) {
  if (whole == 0 || width <= 0) {
    return;
  }
  const double share = std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
  const int eighths = static_cast<int>(std::lround(share * width * 8));
  const auto& blocks = charset_ == Charset::Utf8 ? kBlocks : kAsciiBlocks;
  for (int i = 0; i < width; ++i) {
    const int filled = std::clamp(eighths - i * 8, 0, 8);
    put_glyph(column + i, row, blocks[static_cast<std::size_t>(filled)], style);
  }
}

std::string Canvas::text() const {
  std::u32string lines;
  for (int row = 0; row < size_.rows; ++row) {
    std::u32string line;
    for (int column = 0; column < size_.columns; ++column) {
      if (const char32_t glyph = at(column, row).glyph; glyph != 0) {
        line += glyph;
      }
    }
    line.erase(line.find_last_not_of(U' ') + 1);
    lines += line + U'\n';
  }
  return encode_utf8(lines);
}

void put_items(Canvas& canvas, int column, int row, const std::vector<std::string>& items, Style style) {
  for (const std::string& item : items) {
    const auto width = static_cast<int>(columns_of(clean_points(item, canvas.charset())));
    if (column + width > canvas.size().columns) {
      break;
    }
    column = canvas.put(column, row, item, style) + 2;
  }
}

}  // namespace tidemark::viewer
