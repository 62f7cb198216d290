// The grid of cells that top is drawn in.
#include "viewer/tui/canvas.hpp"

#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

TEST(Canvas, CutsOffWhatIsOutside) {
  Canvas canvas({4, 2}, Charset::Ascii);

  canvas.put(-2, 0, "abcdef");
  canvas.put(2, 1, "xyz");
  canvas.put(0, 5, "gone");
  canvas.put_glyph(9, 9, U'x');
  canvas.fill_row(7, Style::Bold);

  EXPECT_EQ(canvas.text(), "cdef\n  x~\n");
}

TEST(Canvas, FillsABarByShare) {
  Canvas canvas({10, 1}, Charset::Utf8);
  canvas.put_bar(0, 0, 10, 25, 100, Style::Normal);
  EXPECT_EQ(canvas.text(), "██▌\n");

  Canvas full({4, 1}, Charset::Utf8);
  full.put_bar(0, 0, 4, 200, 100, Style::Normal);
  EXPECT_EQ(full.text(), "████\n");

  Canvas unknown({4, 1}, Charset::Utf8);
  unknown.put_bar(0, 0, 4, 5, 0, Style::Normal);
  EXPECT_EQ(unknown.text(), "\n");
}

}  // namespace
}  // namespace tidemark::viewer
