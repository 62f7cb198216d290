// A grid of cells that views draw into and the terminal shows. Pure; drawing outside is cut off, never an error.
#pragma once

#include "viewer/clean_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// What a cell means; the terminal decides how that looks (and never by colour alone).
enum class Style : std::uint8_t {
  Normal,
  Dim,
  Bold,
  Title,
  Header,
  Selected,
  Light,
  Moderate,
  Heavy,
  Alarm,
  Allocated,
  Reserved,
  Peak
};

struct Cell {
  char32_t glyph = U' ';  // 0: the right half of a wide character on the left
  Style style = Style::Normal;

  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Size {
  int columns = 0;
  int rows = 0;

  friend bool operator==(const Size&, const Size&) = default;
};

class Canvas {
 public:
  // Requires: no negative size.
  Canvas(Size size, Charset charset);

  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] Charset charset() const { return charset_; }
  // Requires: inside.
  [[nodiscard]] const Cell& at(int column, int row) const { return cells_[index(column, row)]; }

  // `text` (clean or not: it is cleaned here) from `column` on, at most `width` columns, clipped with a mark. Returns
  // the column after it.
  int put(int column, int row, std::string_view text, Style style = Style::Normal, int width = kNoLimit);
  // The same, ending before `column`.
  void put_right(int column, int row, std::string_view text, Style style = Style::Normal);
  void put_glyph(int column, int row, char32_t glyph, Style style = Style::Normal);
  void fill_row(int row, Style style);
  // A bar of `width` columns, `part` of `whole` full; nothing where `whole` is 0.
  void put_bar(int column, int row, int width, std::uint64_t part, std::uint64_t whole, Style style);

  // Lines without trailing blanks, each with a newline: what tests compare.
  [[nodiscard]] std::string text() const;

  static constexpr int kNoLimit = 1 << 20;

 private:
  [[nodiscard]] bool inside(int column, int row) const {
    return column >= 0 && row >= 0 && column < size_.columns && row < size_.rows;
  }
  [[nodiscard]] std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size_.columns) + static_cast<std::size_t>(column);
  }

  Size size_;
  Charset charset_;
  std::vector<Cell> cells_;
};

// Puts whole items, two blanks apart, as many as fit between `column` and the right edge: no number is ever cut.
void put_items(Canvas& canvas, int column, int row, const std::vector<std::string>& items, Style style = Style::Normal);

}  // namespace tidemark::viewer
