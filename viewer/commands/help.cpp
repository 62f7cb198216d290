// tidemark help: the overview, or one command's help.
#include "viewer/commands/commands.hpp"

#include <cstdio>

namespace tidemark::viewer {
namespace {

ExitCode run(const Arguments& arguments, const Context&) {
  if (arguments.operands().empty()) {
    std::fputs(overview().c_str(), stdout);
    return ExitCode::Done;
  }
  for (const std::string& name : arguments.operands()) {
    const Command* command = find_command(name);
    if (command == nullptr) {
      fail_unknown_command(name);
    }
    std::fputs(help_text(command->syntax).c_str(), stdout);
  }
  return ExitCode::Done;
}

}  // namespace

Command help_command() {
  return {.syntax = {.name = "help",
                     .operands = "[COMMAND]",
                     .takes = Operands::Any,
                     .summary = "What the commands do.",
                     .examples = "  tidemark help run\n",
                     .options = {},
                     .looks_at_segments = false},
          .run = run};
}

}  // namespace tidemark::viewer
