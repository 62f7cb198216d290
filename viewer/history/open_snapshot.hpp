// A saved snapshot of any kind: what is in the file decides, not its name.
#pragma once

#include "viewer/history/take_snapshot.hpp"
#include "viewer/history/value.hpp"

#include <string>
#include <variant>

namespace tidemark::viewer {

// Documents are read whole, and take several times their size in memory.
inline constexpr std::uint64_t kLargestDocument = std::uint64_t{4} << 30;

// A snapshot with what may be missing of it, or any JSON document that is none: for who understands those, too. Looks
// at the beginning before it reads the rest. Throws Failure that names the file, what is wrong with it and what there
// may be.
[[nodiscard]] std::variant<TakenSnapshot, Value> open_snapshot(const std::string& path);

}  // namespace tidemark::viewer
