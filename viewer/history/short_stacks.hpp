// Stacks without the calls that say nothing about the program: what a driver does inside the allocation function that
// was called, what runs Python code, how programs and threads begin. Pure.
#pragma once

#include <string_view>

#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::viewer {

// Stands for the interpreter's calls where Python's own are not known.
inline constexpr std::string_view kPythonCalls = "(calls of Python, which were not read)";

// At least one frame stays of each stack that has any. Stacks that become the same are one to everything that adds up.
void shorten_stacks(MemorySnapshot& snapshot);

}  // namespace tidemark::viewer
