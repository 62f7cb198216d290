#include "viewer/tui/layout.hpp"

#include "viewer/tui/row_detail.hpp"

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr int kRowsForDevices = 12;  // a lower screen is all table
constexpr int kRowsForDetail = 16;
constexpr int kRowsForGraph = 22;
constexpr int kLowestGraph = 6;
constexpr int kHighestGraph = 20;

}  // namespace

Layout layout_of(std::size_t devices, Size size) {
  Layout layout;
  layout.footer = size.rows - 1;
  layout.detail_rows = size.rows >= kRowsForDetail ? kDetailRows : 0;
  layout.device_lines = size.rows >= kRowsForDevices
                            ? static_cast<int>(std::min<std::size_t>(devices, static_cast<std::size_t>(size.rows) / 6))
                            : 0;
  layout.table_top = layout.device_top + layout.device_lines;
  layout.graph_rows = size.rows >= kRowsForGraph ? std::clamp(size.rows / 4, kLowestGraph, kHighestGraph) : 0;
  layout.graph_top = layout.footer - layout.graph_rows;
  layout.detail_top = layout.graph_top - layout.detail_rows;
  layout.table_rows = layout.detail_top - layout.table_top - 1;
  return layout;
}

}  // namespace tidemark::viewer
