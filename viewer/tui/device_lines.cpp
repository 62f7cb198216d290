#include "viewer/tui/device_lines.hpp"

#include "viewer/size_text.hpp"
#include "viewer/tui/process_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr int kColumnsForNotOurs = 100;
constexpr int kNarrowestName = 24;

void draw_device_line(Canvas& canvas, const NodeDevice& device, int row) {
  const int width = canvas.size().columns;
  // From the right: the numbers are never what gives way, the name is.
  std::string numbers = fmt::format("held {} of {}", size_column(device.held),
                                    device.capacity > 0 ? size_column(device.capacity) : "unknown  ");
  if (width >= kColumnsForNotOurs) {
    const auto not_ours = device.not_ours();
    numbers += fmt::format("  not ours {}", not_ours ? size_column(*not_ours) : "  N/A    ");
  }
  const int numbers_at = width - static_cast<int>(numbers.size());
  const int bar = std::clamp(width / 5, 12, 24);
  const int bar_at = numbers_at - bar - 2;
  const bool has_bar = bar_at > kNarrowestName;
  canvas.put(0, row, device_title(device), Style::Normal, (has_bar ? bar_at - 1 : numbers_at) - 1);
  if (has_bar) {
    canvas.put_glyph(bar_at - 1, row, U'[', Style::Dim);
    canvas.put_bar(bar_at, row, bar, device.held, device.capacity, load_style(device.held, device.capacity));
    canvas.put_glyph(bar_at + bar, row, U']', Style::Dim);
  }
  canvas.put(numbers_at, row, numbers);
}

}  // namespace

std::string device_title(const NodeDevice& device) {
  constexpr std::size_t kDigits = 9;  // "-9f3c01aa"
  return fmt::format("{} {}",
                     device.ordinal.empty() ? device.uuid.substr(0, device.uuid.find('-') + kDigits) : device.ordinal,
                     device.name);
}

void draw_device_lines(Canvas& canvas, const std::vector<NodeDevice>& devices, int top, int rows) {
  const auto room = static_cast<std::size_t>(std::max(rows, 0));
  const bool all = devices.size() <= room;
  const std::size_t shown = all ? devices.size() : room - std::min<std::size_t>(room, 1);
  for (std::size_t i = 0; i < shown; ++i) {
    draw_device_line(canvas, devices[i], top + static_cast<int>(i));
  }
  if (!all && room > 0) {
    canvas.put(0, top + rows - 1, fmt::format("and {} more devices", devices.size() - shown), Style::Dim);
  }
}

}  // namespace tidemark::viewer
