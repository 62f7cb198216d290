// A saved snapshot of any kind: what is in the file decides, not its name.
#pragma once

#include "viewer/history/memory_snapshot.hpp"
#include "viewer/history/value.hpp"

#include <string>
#include <variant>

namespace tidemark::viewer {

// A snapshot, or any JSON document that is none: for who understands those, too. Throws Failure that names the file,
// what is wrong with it and what there may be.
[[nodiscard]] std::variant<MemorySnapshot, Value> open_snapshot(const std::string& path);

}  // namespace tidemark::viewer
