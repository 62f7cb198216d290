// Calls of a stack as people read them. Pure; what others wrote is cleaned by whoever prints a line of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::viewer {

// "forward(int) (model.cpp:12)", "libmodel.so+0x4711", "0x7f0012345678".
[[nodiscard]] std::string frame_text(const Frame& frame);

// What stands for a stack that isn't known.
inline constexpr std::string_view kNoStack = "(no stack)";

// A stack's calls, one a line: a function that calls itself is one line with a count, one that isn't known kNoStack.
[[nodiscard]] std::vector<std::string> frame_lines(const Frames& frames);

// Stacks for flame-graph tools, one line each: outermost call first, between semicolons, then the bytes. Devices come
// first where there are several.
[[nodiscard]] std::string folded_text(const MemorySnapshot& snapshot);

}  // namespace tidemark::viewer
