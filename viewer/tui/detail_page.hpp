// All that is known of one row: its process, and every counter of its device with its meaning. Pure.
#pragma once

#include "viewer/model/view.hpp"
#include "viewer/tui/page.hpp"
#include "viewer/tui/rows.hpp"

namespace tidemark::viewer {

// A row that went away leaves a page that says so.
[[nodiscard]] Page detail_page(const View& view, const RowKey& key, int width, Charset charset);

}  // namespace tidemark::viewer
