// tidemark show: one process, every counter.
#include "viewer/commands/commands.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/render/json.hpp"
#include "viewer/render/show_text.hpp"

#include <fmt/format.h>

#include <array>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document"},
};

ExitCode run(const Arguments& arguments, const Context& context) {
  NodeWatch node;
  node.ask();
  View view = collect(context.directories);
  node.answer_into(view);
  ProcessView& process = view.processes[resolve_target(view, arguments.operands().front())];
  read_details(process);
  fmt::print("{}", arguments.has("--json") ? show_json(process, view.time_ns)
                                           : show_text(process, view.time_ns, terminal_charset(), node_devices(view)));
  return ExitCode::Done;
}

}  // namespace

Command show_command() {
  return {.syntax = {.name = "show",
                     .operands = "TARGET",
                     .takes = Operands::One,
                     .summary = "Shows every counter of one process, with its meaning.",
                     .examples = "  tidemark show 4711\n"
                                 "  tidemark show eval --json\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
