// The upper lines of `top`: what is held of each device. Pure.
#pragma once

#include "viewer/model/view.hpp"
#include "viewer/tui/canvas.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

// "cuda:0 Simulated CUDA device": by the number the programs know it by, or by its uuid's beginning where they number
// differently.
[[nodiscard]] std::string device_title(const NodeDevice& device);

// In `rows` lines from `top` on; where there are more devices the last line counts them.
void draw_device_lines(Canvas& canvas, const std::vector<NodeDevice>& devices, int top, int rows);

}  // namespace tidemark::viewer
