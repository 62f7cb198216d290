// Scripts that make a shell complete this program's words, from the same tables as parsing and help. Pure.
#pragma once

#include "viewer/context.hpp"

#include <span>
#include <string>

namespace tidemark::viewer {

[[nodiscard]] std::string bash_completion(std::span<const Command> commands);
[[nodiscard]] std::string zsh_completion(std::span<const Command> commands);
[[nodiscard]] std::string fish_completion(std::span<const Command> commands);

}  // namespace tidemark::viewer
