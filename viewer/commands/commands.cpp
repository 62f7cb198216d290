#include "viewer/commands/commands.hpp"

#include "viewer/nearest.hpp"

#include <fmt/format.h>

#include <vector>

namespace tidemark::viewer {

std::span<const Command> all_commands() {
  static const std::vector<Command> commands{
      run_command(),
      env_command(),
      ps_command(),
      show_command(),
      top_command(),
      reset_peak_command(),
      reset_accumulated_command(),
      peak_command(),
      empty_cache_command(),
      limit_command(),
      record_command(),
      snapshot_command(),
      report_command(),
      diff_command(),
      leaks_command(),
      ranges_command(),
      watch_command(),
      export_command(),
      doctor_command(),
      gc_command(),
      completion_command(),
      help_command(),
  };
  return commands;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : all_commands()) {
    if (command.syntax.name == name) {
      return &command;
    }
  }
  return nullptr;
}

std::string overview() {
  std::string text =
      "usage: tidemark [COMMAND [options] [arguments]]\n\n"
      "Shows and manages the accelerator memory of programs that were not built for it.\n\n"
      "examples:\n"
      "  tidemark run -- ./train      start a program under the shim\n"
      "  tidemark                     watch every such program (top; ps without a terminal)\n"
      "  tidemark reset-peak 4711     peak := allocated now, without touching the program\n\n"
      "commands:\n";
  for (const Command& command : all_commands()) {
    text += fmt::format("  {:<18} {}\n", command.syntax.name, command.syntax.summary);
  }
  text += "\n'tidemark COMMAND --help' says more; 'tidemark --version' tells the version.\n";
  return text;
}

void fail_unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : all_commands()) {
    names.push_back(command.syntax.name);
  }
  const std::string_view near = nearest(name, names);
  throw Failure(ExitCode::Usage,
                near.empty() ? fmt::format("no command '{}' in this version; there are {}", name, fmt::join(names, " "))
                             : fmt::format("no command '{}'; did you mean '{}'?", name, near));
}

}  // namespace tidemark::viewer
