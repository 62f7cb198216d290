#include "viewer/tui/help_page.hpp"

#include "viewer/tui/columns.hpp"
#include "viewer/tui/key_table.hpp"

#include <string_view>

namespace tidemark::viewer {
namespace {

constexpr int kNameAt = 2;
constexpr int kMeaningAt = 16;

void add_entry(Page& page, std::string_view name, std::string_view meaning, int width) {
  const std::size_t first = page.lines.size();
  add_paragraph(page.lines, meaning, width, kMeaningAt);
  page.lines[first].push_back({.column = kNameAt, .text = std::string{name}, .style = Style::Bold});
}

}  // namespace

Page help_page(int width) {
  Page page{.title = "tidemark top: keys and columns", .lines = {}};
  for (const KeyBinding& binding : kKeyBindings) {
    add_entry(page, binding.name, binding.help, width);
  }
  page.lines.emplace_back();
  for (const Column& column : all_columns()) {
    add_entry(page, column.title, column.meaning, width);
  }
  return page;
}

}  // namespace tidemark::viewer
