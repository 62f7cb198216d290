// TARGET|FILE of a command line: a process's snapshot taken now, or one that was saved.
#pragma once

#include "viewer/context.hpp"
#include "viewer/history/take_snapshot.hpp"
#include "viewer/history/value.hpp"

#include <string>
#include <variant>

namespace tidemark::viewer {

// Does the word look like a file's name? Else it is a process's; where none has that name, and there is such a file, it
// is the file after all.
[[nodiscard]] bool is_file_name(const std::string& word);
// Is there an ordinary file of that name?
[[nodiscard]] bool is_there(const std::string& word);

// Throws Failure as open_snapshot(), resolve_target() and take_snapshot() do.
[[nodiscard]] TakenSnapshot find_snapshot(const std::string& word, const Context& context);

// The same, or another JSON document.
[[nodiscard]] std::variant<TakenSnapshot, Value> find_snapshot_or_json(const std::string& word, const Context& context);

}  // namespace tidemark::viewer
