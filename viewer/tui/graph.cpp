#include "viewer/tui/graph.hpp"

#include "viewer/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace tidemark::viewer {
namespace {

constexpr int kAxisAt = static_cast<int>(kSizeColumns);  // behind the sizes
constexpr int kPlotAt = kAxisAt + 1;
constexpr int kFewestRows = 5;
constexpr int kFewestColumns = 20;
constexpr int kColumnsForMiddle = 40;
constexpr std::uint64_t kShortestAxis = 1024;

enum Series : std::size_t { kAllocated, kReserved, kPeak };
constexpr std::array kSeriesStyles{Style::Allocated, Style::Reserved, Style::Peak};

std::uint64_t value_of(const HistoryPoint& point, std::size_t series) {
  return series == kAllocated ? point.allocated : series == kReserved ? point.reserved : point.peak;
}

struct Plot {
  int top;
  int columns;
  int rows;
  std::uint64_t most;
};

// How many of `steps` a value is high: at least one where there is anything.
int height_of(std::uint64_t value, std::uint64_t most, int steps) {
  const double share = static_cast<double>(value) / static_cast<double>(most);
  return value == 0 ? 0 : std::clamp(static_cast<int>(share * steps + 0.5), 1, steps);
}

// Allocated is an area, reserved a line, peak a dotted line: they differ without colour, too.
void draw_braille(Canvas& canvas, const std::vector<std::optional<HistoryPoint>>& steps, const Plot& plot) {
  constexpr std::array<std::array<char32_t, 4>, 2> kDots{{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};
  for (int column = 0; column < plot.columns; ++column) {
    std::vector<char32_t> dots(static_cast<std::size_t>(plot.rows));
    std::vector<Style> styles(dots.size(), Style::Normal);
    const auto set = [&](std::size_t half, int height, std::size_t series) {
      const auto cell = static_cast<std::size_t>((height - 1) / 4);
      dots[cell] |= kDots[half][static_cast<std::size_t>((height - 1) % 4)];
      styles[cell] = kSeriesStyles[series];
    };
    for (const std::size_t series : {kAllocated, kReserved, kPeak}) {
      for (std::size_t half = 0; half < 2; ++half) {
        const auto& step = steps[static_cast<std::size_t>(column) * 2 + half];
        const int height = step ? height_of(value_of(*step, series), plot.most, plot.rows * 4) : 0;
        if (height == 0 || (series == kPeak && half == 1)) {
          continue;
        }
        for (int at = series == kAllocated ? 1 : height; at <= height; ++at) {
          set(half, at, series);
        }
      }
    }
    for (int row = 0; row < plot.rows; ++row) {
      if (const char32_t bits = dots[static_cast<std::size_t>(row)]; bits != 0) {
        constexpr char32_t kEmptyBraille = 0x2800;
        canvas.put_glyph(kPlotAt + column, plot.top + plot.rows - 1 - row, kEmptyBraille + bits,
                         styles[static_cast<std::size_t>(row)]);
      }
    }
  }
}

struct CellGlyphs {
  char32_t full;
  char32_t half;  // 0: none
  char32_t reserved;
  char32_t peak;
};
constexpr CellGlyphs kBlockGlyphs{.full = U'█', .half = U'▄', .reserved = U'─', .peak = U'·'};
constexpr CellGlyphs kAsciiGlyphs{.full = U'#', .half = 0, .reserved = U'=', .peak = U'-'};

void draw_cells(Canvas& canvas, const std::vector<std::optional<HistoryPoint>>& steps, const Plot& plot,
                const CellGlyphs& glyphs) {
  const int halves = glyphs.half == 0 ? 1 : 2;
  for (int column = 0; column < plot.columns; ++column) {
    const auto& step = steps[static_cast<std::size_t>(column)];
    if (!step) {
      continue;
    }
    const auto put = [&](int height, char32_t glyph, std::size_t series) {
      canvas.put_glyph(kPlotAt + column, plot.top + plot.rows - height, glyph, kSeriesStyles[series]);
    };
    const int area = height_of(step->allocated, plot.most, plot.rows * halves);
    for (int height = 1; height * halves <= area; ++height) {
      put(height, glyphs.full, kAllocated);
    }
    if (area % halves != 0) {
      put(area / halves + 1, glyphs.half, kAllocated);
    }
    if (const int height = height_of(step->reserved, plot.most, plot.rows); height > 0) {
      put(height, glyphs.reserved, kReserved);
    }
    if (const int height = height_of(step->peak, plot.most, plot.rows); height > 0) {
      put(height, glyphs.peak, kPeak);
    }
  }
}

void draw_legend(Canvas& canvas, int row, GraphGlyphs glyphs) {
  constexpr std::array<std::array<std::string_view, 3>, 3> kSigns{
      {{"⣿", "⠒⠒", "⠂⠂"}, {"█", "─", "·"}, {"#", "=", "-"}}};
  constexpr std::array<std::string_view, 3> kNames{"allocated", "reserved", "peak"};
  int at = kPlotAt;
  for (std::size_t series = 0; series < kNames.size(); ++series) {
    const std::string_view sign = kSigns[static_cast<std::size_t>(glyphs)][series];
    const auto width = static_cast<int>(columns_of(clean_points(sign, canvas.charset())) + 1 + kNames[series].size());
    if (at + width > canvas.size().columns) {
      break;
    }
    at = canvas.put(at, row, sign, kSeriesStyles[series]);
    at = canvas.put(at + 1, row, kNames[series]) + 3;
  }
}

std::string ago_label(int steps, std::chrono::milliseconds step) {
  return fmt::format("-{:g} s", static_cast<double>(steps) * static_cast<double>(step.count()) / 1000);
}

void draw_axes(Canvas& canvas, const Plot& plot, int dots, std::chrono::milliseconds a_dot) {
  const bool ascii = canvas.charset() == Charset::Ascii;
  const int foot = plot.top + plot.rows;
  canvas.put(0, plot.top, size_column(plot.most), Style::Dim);
  const bool has_middle = plot.rows >= 4 && plot.rows % 2 == 0 && plot.most % 2 == 0;
  if (has_middle) {
    canvas.put(0, plot.top + plot.rows / 2, size_column(plot.most / 2), Style::Dim);
  }
  canvas.put(0, foot, size_column(0), Style::Dim);
  for (int row = 0; row < plot.rows; ++row) {
    const bool is_labelled = row == 0 || (has_middle && row == plot.rows / 2);
    canvas.put_glyph(kAxisAt, plot.top + row, is_labelled ? (ascii ? U'+' : U'┤') : (ascii ? U'|' : U'│'), Style::Dim);
  }
  canvas.put_glyph(kAxisAt, foot, ascii ? U'+' : U'└', Style::Dim);
  for (int column = 0; column < plot.columns; ++column) {
    canvas.put_glyph(kPlotAt + column, foot, ascii ? U'-' : U'─', Style::Dim);
  }
  canvas.put(kPlotAt, foot, ago_label(dots, a_dot) + " ", Style::Dim);
  if (plot.columns >= kColumnsForMiddle) {
    const std::string label = fmt::format(" {} ", ago_label(dots / 2, a_dot));
    canvas.put(kPlotAt + plot.columns / 2 - static_cast<int>(label.size()) / 2, foot, label, Style::Dim);
  }
  canvas.put_right(kPlotAt + plot.columns, foot, " now", Style::Dim);
}

}  // namespace

GraphGlyphs graph_glyphs(Charset charset, const char* term) {
  if (charset == Charset::Ascii) {
    return GraphGlyphs::Ascii;
  }
  return term != nullptr && std::string_view{term}.starts_with("linux") ? GraphGlyphs::Blocks : GraphGlyphs::Braille;
}

std::vector<std::optional<HistoryPoint>> in_steps(std::span<const HistoryPoint> points, const GraphTime& time,
                                                  int dots) {
  const std::int64_t step = std::chrono::nanoseconds{time.a_dot}.count();
  std::vector<std::optional<HistoryPoint>> steps(static_cast<std::size_t>(dots));
  // How many steps ago, to the nearest: looks come a little late.
  const auto steps_back = [&](std::uint64_t when) {
    return (static_cast<std::int64_t>(time.now_ns - when) + step / 2) / step;
  };
  const auto add = [&](std::int64_t back, const HistoryPoint& point) {
    auto& held = steps[static_cast<std::size_t>(dots - 1 - back)];
    if (!held) {
      held = point;
      return;
    }
    held->allocated = std::max(held->allocated, point.allocated);
    held->reserved = std::max(held->reserved, point.reserved);
    held->peak = std::max(held->peak, point.peak);
  };
  for (std::size_t i = 0; i < points.size() && points[i].time_ns <= time.now_ns; ++i) {
    const HistoryPoint& point = points[i];
    const std::uint64_t until = std::min(point.time_ns + point.is_good_for_ns, time.now_ns);
    const bool has_next = i + 1 < points.size() && points[i + 1].time_ns <= until;
    // It holds until the next one has its say.
    const std::int64_t first = steps_back(point.time_ns);
    const std::int64_t last = has_next ? std::min(first, steps_back(points[i + 1].time_ns) + 1) : steps_back(until);
    for (std::int64_t back = std::min<std::int64_t>(first, dots - 1); back >= last; --back) {
      add(back, point);
    }
  }
  return steps;
}

std::uint64_t axis_end(std::uint64_t most) {
  if (most > (std::uint64_t{1} << 62)) {
    return most;
  }
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_ceil(most) / 8, 1);
  return std::max((most + step - 1) / step * step, kShortestAxis);
}

void draw_graph(Canvas& canvas, std::span<const HistoryPoint> points, const GraphTime& time, GraphGlyphs glyphs,
                GraphPlace place) {
  const int columns = canvas.size().columns - kPlotAt;
  if (place.rows < kFewestRows || columns < kFewestColumns) {
    return;
  }
  const int dots = glyphs == GraphGlyphs::Braille ? columns * 2 : columns;
  const auto steps = in_steps(points, time, dots);
  std::uint64_t most = 0;
  for (const auto& step : steps) {
    most = step ? std::max({most, step->allocated, step->reserved, step->peak}) : most;
  }
  const Plot plot{.top = place.top + 1, .columns = columns, .rows = place.rows - 2, .most = axis_end(most)};
  draw_legend(canvas, place.top, glyphs);
  draw_axes(canvas, plot, dots, time.a_dot);
  if (glyphs == GraphGlyphs::Braille) {
    draw_braille(canvas, steps, plot);
  } else {
    draw_cells(canvas, steps, plot, glyphs == GraphGlyphs::Blocks ? kBlockGlyphs : kAsciiGlyphs);
  }
}

}  // namespace tidemark::viewer
