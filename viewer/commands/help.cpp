// tidemark help: the overview, one command's help, or all of it as manual pages.
#include "viewer/commands/commands.hpp"
#include "viewer/render/man_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--man", "", Takes::Value, "DIR", "write manual pages into DIR: tidemark.1 and one for each command"},
};

void write_page(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    throw Failure(ExitCode::Failed, fmt::format("help: {}: {}", path.string(), std::strerror(errno)));
  }
}

void write_pages(const std::filesystem::path& directory) {
  if (std::error_code ignored; !std::filesystem::is_directory(directory, ignored)) {
    throw Failure(ExitCode::Usage, fmt::format("help: --man '{}'; allowed: an existing directory", directory.string()));
  }
  std::vector<CommandSyntax> commands;
  for (const Command& command : all_commands()) {
    commands.push_back(command.syntax);
    write_page(directory / fmt::format("tidemark-{}.1", command.syntax.name),
               man_page(command.syntax, TIDEMARK_VERSION));
  }
  write_page(directory / "tidemark.1", man_overview(commands, TIDEMARK_VERSION));
}

ExitCode run(const Arguments& arguments, const Context&) {
  if (const auto directory = arguments.value("--man")) {
    write_pages(*directory);
    return ExitCode::Done;
  }
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
                     .examples = "  tidemark help run\n"
                                 "  tidemark help --man /usr/local/share/man/man1\n",
                     .options = kOptions,
                     .looks_at_segments = false},
          .run = run};
}

}  // namespace tidemark::viewer
