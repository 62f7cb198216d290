// What every command is given besides its arguments.
#pragma once

#include "viewer/arguments.hpp"
#include "viewer/exit_code.hpp"
#include "viewer/messages.hpp"

#include <filesystem>
#include <vector>

namespace tidemark::viewer {

struct Context {
  Messages messages{false};
  std::vector<std::filesystem::path>
      directories;  // where segments are looked for: TIDEMARK_DIR or /dev/shm, then --dir
};

struct Command {
  CommandSyntax syntax;
  ExitCode (*run)(const Arguments&, const Context&) = nullptr;
};

}  // namespace tidemark::viewer
