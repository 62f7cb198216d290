// tidemark completion: scripts for shells; and the words that they complete TARGET with.
#include "viewer/clean_text.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/render/completion_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--dead", "", Takes::Nothing, "", "with targets: those of dead processes too"},
};

// A label that has to be cleaned can't be typed as it is.
bool can_be_typed(const std::string& label) {
  return !label.empty() && clean_text(label, Charset::Utf8) == label && label.find('\t') == std::string::npos;
}

// A word, a tab, what it is.
std::string targets_text(const View& view, bool with_dead) {
  std::string text;
  const auto add = [&](std::string_view word, const ProcessView& process) {
    text += fmt::format("{}\t{} {}\n", word, to_text(process.snapshot.state),
                        clean_text(process.title(), terminal_charset()));
  };
  for (const ProcessView& process : view.processes) {
    if (process.is_alive()) {
      add(fmt::format("{}", process.pid()), process);
      if (const std::string& label = process.snapshot.identity.label; can_be_typed(label)) {
        add(label, process);
      }
    } else if (with_dead) {
      add(process.id(), process);
    }
  }
  return text;
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const std::string& what = arguments.operands().front();
  if (what == "bash") {
    fmt::print("{}", bash_completion(all_commands()));
  } else if (what == "zsh") {
    fmt::print("{}", zsh_completion(all_commands()));
  } else if (what == "fish") {
    fmt::print("{}", fish_completion(all_commands()));
  } else if (what == "targets") {
    fmt::print("{}", targets_text(collect(context.directories), arguments.has("--dead")));
  } else {
    throw Failure(ExitCode::Usage, fmt::format("completion: '{}'; allowed: bash zsh fish targets", what));
  }
  return ExitCode::Done;
}

}  // namespace

Command completion_command() {
  return {.syntax = {.name = "completion",
                     .operands = "bash|zsh|fish",
                     .takes = Operands::One,
                     .summary = "Prints a script that makes a shell complete commands, options and targets.",
                     .examples = "  source <(tidemark completion bash)\n"
                                 "  tidemark completion zsh > ~/.zfunc/_tidemark    a directory of fpath\n"
                                 "  tidemark completion fish > ~/.config/fish/completions/tidemark.fish\n"
                                 "  tidemark completion targets                     what these scripts ask\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
