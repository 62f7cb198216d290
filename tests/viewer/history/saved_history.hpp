// A snapshot as the bytes that a process would save, or be writing: what a viewer finds in a directory.
#pragma once

#include <cstdint>
#include <string>

#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::test {

// Stacks become Python's, which need no program to be named; with `module` each has a native call in that file besides.
// Throws std::runtime_error where the file cannot be made.
void save_history(const std::string& path, const viewer::MemorySnapshot& snapshot, std::uint64_t nonce = 7,
                  const std::string& module = {});

}  // namespace tidemark::test
