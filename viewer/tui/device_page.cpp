#include "viewer/tui/device_page.hpp"

#include "viewer/duration_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/tui/device_lines.hpp"
#include "viewer/tui/page_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr char kNotOurs = '/';
constexpr char kFree = '.';
constexpr char kUnknown = '?';

// One process's part of a device; its letter stands for it in the bar.
struct Share {
  const ProcessView* process;
  const DeviceView* device;
  char letter;
};

std::vector<Share> shares_of(const View& view, const NodeDevice& node) {
  std::vector<Share> shares;
  for (const ProcessView& process : view.processes) {
    for (const DeviceView& device : process.devices) {
      if (process.is_alive() && device.uuid == node.uuid) {
        shares.push_back({.process = &process, .device = &device, .letter = '+'});
      }
    }
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.device->figures.held > b.device->figures.held; });
  constexpr std::size_t kLetters = 26;  // the smallest ones behind them share the "+"
  for (std::size_t i = 0; i < std::min(shares.size(), kLetters); ++i) {
    shares[i].letter = static_cast<char>('A' + i);
  }
  return shares;
}

// From the left: ours, not ours, the rest; each part ends where the sum up to it does, so that no error adds up.
class StackedBar {
 public:
  StackedBar(std::uint64_t whole, int width) : whole_(whole), width_(width) {
    line_.push_back({.column = 0, .text = "[", .style = Style::Dim});
  }

  void add(std::uint64_t bytes, char glyph, Style style) {
    sum_ += std::min(bytes, whole_ - sum_);
    const double share = static_cast<double>(sum_) / static_cast<double>(whole_);
    const int end = std::clamp(static_cast<int>(share * width_ + 0.5), at_, width_);
    line_.push_back(
        {.column = 1 + at_, .text = std::string(static_cast<std::size_t>(end - at_), glyph), .style = style});
    at_ = end;
  }

  [[nodiscard]] PageLine finish(char rest) {
    add(whole_, rest, Style::Dim);
    line_.push_back({.column = 1 + width_, .text = "]", .style = Style::Dim});
    return std::move(line_);
  }

 private:
  std::uint64_t whole_;
  int width_;
  std::uint64_t sum_ = 0;
  int at_ = 0;
  PageLine line_;
};

std::string why_not_known(const NodeDevice& node, std::uint64_t now_ns) {
  return node.used ? fmt::format("the driver said {} in use {} ago, which is less than is held now",
                                 size_words(*node.used), ago_words(node.used_time_ns, now_ns))
                   : "no program has asked its driver yet";
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", static_cast<double>(part) * 100 / static_cast<double>(whole));
}

PageTable table_of(const View& view, const NodeDevice& node, const std::vector<Share>& shares) {
  PageTable table{.titles = {"", "HELD", "SHARE", "ALLOCATED", "CACHED", "PEAK", ""}, .rows = {}};
  for (const Share& share : shares) {
    const Figures& figures = share.device->figures;
    table.rows.push_back(
        {.name = fmt::format("{} {:>7} {}", share.letter, share.process->pid(), share.process->title()),
         .cells = {size_column(figures.held), percent_of(figures.held, node.capacity), size_column(figures.allocated),
                   size_column(figures.cached), size_column(figures.allocated_peak)}});
  }
  const auto add = [&](char glyph, std::string_view what, std::optional<std::uint64_t> bytes, std::string remark) {
    table.rows.push_back(
        {.name = fmt::format("{} {}", glyph, what),
         .cells = {bytes ? size_column(*bytes) : "N/A   ", bytes ? percent_of(*bytes, node.capacity) : "", "", "", ""},
         .meaning = std::move(remark)});
  };
  const auto not_ours = node.not_ours();
  add(kNotOurs, "not ours", not_ours,
      not_ours ? fmt::format("as the driver said {} ago", ago_words(node.used_time_ns, view.time_ns))
               : why_not_known(node, view.time_ns));
  const std::uint64_t taken = node.held + not_ours.value_or(0);
  std::optional<std::uint64_t> rest;
  if (node.capacity >= taken) {
    rest = node.capacity - taken;
  }
  not_ours ? add(kFree, "free", rest, "") : add(kUnknown, "free or not ours", rest, "");
  return table;
}

void add_device(Page& page, const View& view, const NodeDevice& node, int width, Charset charset) {
  add_paragraph(
      page.lines,
      fmt::format("{} {}: {} held, {} of it cached, of {}", device_title(node), node.uuid, size_words(node.held),
                  size_words(node.cached), node.capacity > 0 ? size_words(node.capacity) : "unknown"),
      width, 0, 2, Style::Bold);
  const std::vector<Share> shares = shares_of(view, node);
  if (node.capacity > 0) {
    constexpr std::array kStyles{Style::Allocated, Style::Reserved, Style::Peak, Style::Moderate};
    StackedBar bar(node.capacity, width - 2);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      bar.add(shares[i].device->figures.held, shares[i].letter, kStyles[i % kStyles.size()]);
    }
    bar.add(node.not_ours().value_or(0), kNotOurs, Style::Alarm);
    page.lines.push_back(bar.finish(node.not_ours() ? kFree : kUnknown));
  }
  add_table(page.lines, table_of(view, node, shares), width, charset);
  page.lines.emplace_back();
}

}  // namespace

Page device_page(const View& view, int width, Charset charset) {
  Page page{.title = "devices", .lines = {}};
  const std::vector<NodeDevice> nodes = node_devices(view);
  for (const NodeDevice& node : nodes) {
    add_device(page, view, node, width, charset);
  }
  if (nodes.empty()) {
    add_paragraph(page.lines, "no process uses a device yet; start one: tidemark run -- CMD", width);
  }
  return page;
}

}  // namespace tidemark::viewer
