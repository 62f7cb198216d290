// tidemark ps: processes and devices, one line each, once.
#include "viewer/commands/commands.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"
#include "viewer/render/json.hpp"
#include "viewer/render/ps_text.hpp"
#include "viewer/terminal_width.hpp"

#include <fmt/format.h>

#include <array>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document with every counter"},
    OptionSpec{"--csv", "", Takes::Nothing, "", "comma-separated values with a header"},
};

void add_notes(const View& view, const Context& context, bool everything) {
  for (const SkippedSegment& skipped : view.skipped) {
    context.messages.note(fmt::format("{}: {}; skipped", skipped.path, skipped.reason));
  }
  if (!view.hidden.empty()) {
    context.messages.note(fmt::format("{} of other users not readable; as root they are", view.hidden.size()));
  }
  if (!everything || context.messages.quiet()) {
    return;
  }
  const std::size_t waiting = count_waiting(view);
  if (waiting > 0) {
    context.messages.note(fmt::format("{} more {} the library and no allocation yet", waiting,
                                      waiting == 1 ? "process has" : "processes have"));
  } else if (view.processes.empty() && view.hidden.empty()) {
    context.messages.note("nothing to show; start a program with: tidemark run -- CMD");
  }
}

ExitCode run(const Arguments& arguments, const Context& context) {
  if (arguments.has("--json") && arguments.has("--csv")) {
    throw Failure(ExitCode::Usage, "ps: --json or --csv, not both");
  }
  View view = collect(context.directories);
  for (const std::string& target : arguments.operands()) {
    (void)resolve_target(view, target);  // a word that names nothing is a failure, as everywhere
  }
  if (!arguments.operands().empty()) {
    keep_only(view, arguments.operands());
  }
  if (arguments.has("--json")) {
    fmt::print("{}", ps_json(view));
  } else if (arguments.has("--csv")) {
    fmt::print("{}", ps_csv(view));
  } else {
    fmt::print("{}", ps_text(view, terminal_charset(), terminal_width()));
    sweep(context.directories);  // not in what scripts call: they pay for nothing but the look
    add_notes(view, context, arguments.operands().empty());
  }
  return ExitCode::Done;
}

}  // namespace

Command ps_command() {
  return {.syntax = {.name = "ps",
                     .operands = "[TARGET...]",
                     .takes = Operands::Any,
                     .summary = "Lists processes and their devices, once.",
                     .examples = "  tidemark ps\n"
                                 "  tidemark ps --json | jq '.processes[].pid'\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
