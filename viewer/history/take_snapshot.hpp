// The snapshot of a process: asked of a living one, read from what a dead one left.
#pragma once

#include "viewer/history/memory_snapshot.hpp"
#include "viewer/model/view.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

struct TakenSnapshot {
  MemorySnapshot snapshot{};
  std::vector<std::string> notes{};  // one line each: what may be missing, and why
};

// Requires: process.reader. Throws Failure with what to type.
[[nodiscard]] TakenSnapshot take_snapshot(const ProcessView& process);

// Notes on what any reader of this snapshot should know: what was lost, what may not fit together.
void add_losses(TakenSnapshot& taken);

}  // namespace tidemark::viewer
