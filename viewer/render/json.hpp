// The documents that scripts read: `ps --json`, `show --json`. Pure.
//
// Integers in bytes, null for unknown, invalid UTF-8 replaced. Names and nesting are the documented interface.
#pragma once

#include "viewer/model/view.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// Each is one line with its newline.
[[nodiscard]] std::string ps_json(const View& view);
// The same in pieces, as it comes: for five hundred processes it is 5 MiB, and finding so much memory for it costs more
// than writing it.
void write_ps_json(const View& view, const std::function<void(std::string_view)>& write);
[[nodiscard]] std::string show_json(const ProcessView& process, std::uint64_t time_ns);

}  // namespace tidemark::viewer
