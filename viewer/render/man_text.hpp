// Manual pages, from the tables that parsing, help and completion read as well. Pure.
#pragma once

#include "viewer/arguments.hpp"

#include <span>
#include <string>

namespace tidemark::viewer {

// tidemark-COMMAND(1), in the man macros of groff.
[[nodiscard]] std::string man_page(const CommandSyntax& command, std::string_view version);

// tidemark(1): what there is, the targets, exit codes, variables, files.
[[nodiscard]] std::string man_overview(std::span<const CommandSyntax> commands, std::string_view version);

}  // namespace tidemark::viewer
