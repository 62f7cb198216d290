// Each device with all that is in it: the processes stacked in one bar, what isn't ours, what is free. Pure.
#pragma once

#include "viewer/model/view.hpp"
#include "viewer/tui/page.hpp"

namespace tidemark::viewer {

[[nodiscard]] Page device_page(const View& view, int width, Charset charset);

}  // namespace tidemark::viewer
