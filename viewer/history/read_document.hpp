// The way back: from a snapshot document, ours or PyTorch's own, to a snapshot.
#pragma once

#include "viewer/history/memory_snapshot.hpp"
#include "viewer/history/value.hpp"

namespace tidemark::viewer {

// Throws BadDocument for what is no snapshot at all; of one, what is missing reads as nothing.
[[nodiscard]] MemorySnapshot read_document(const Value& document);

}  // namespace tidemark::viewer
