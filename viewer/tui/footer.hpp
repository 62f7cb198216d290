// The last line of `top`: what is typed, what is asked, what the last key did, else the keys. Pure.
#pragma once

#include "viewer/tui/canvas.hpp"
#include "viewer/tui/key_table.hpp"
#include "viewer/tui/ui_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

struct FooterItem {
  int column = 0;
  std::string text;
  std::optional<KeyAction> action;
};

// The keys that are shown, as many as `width` has room for; none while something else is said there.
[[nodiscard]] std::vector<FooterItem> footer_keys(const UiState& state, int width);

void draw_footer(Canvas& canvas, const UiState& state, int row);

}  // namespace tidemark::viewer
