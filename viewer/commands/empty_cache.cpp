// tidemark empty-cache: cached memory back to the driver. On CUDA the program itself does it at its next allocation, as
// a free from another thread could deadlock with communication libraries; until then it is deferred, and the reason
// shown.
#include "viewer/commands/acting.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/render/emptied_text.hpp"

#include <vector>

namespace tidemark::viewer {
namespace {

ExitCode run(const Arguments& arguments, const Context& context) {
  const Action action{.operation = control::Operation::EmptyCache,
                      .arguments = {arguments.has("--now") ? 1U : 0U},
                      .timeout = std::chrono::seconds{5}};
  return act_on_targets(arguments, context, "empty-cache", action, emptied_text);
}

std::span<const OptionSpec> options() {
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> list(acting_options().begin(), acting_options().end());
    list.push_back({"--now", "", Takes::Nothing, "", "from the library's own thread, unless the process refuses that"});
    return list;
  }();
  return all;
}

}  // namespace

Command empty_cache_command() {
  return {.syntax = {.name = "empty-cache",
                     .operands = "TARGET...|--all",
                     .takes = Operands::Any,
                     .summary = "Gives cached memory back to the driver.",
                     .examples = "  tidemark empty-cache 4711               waits up to 5 s; exit 6: still deferred\n"
                                 "  tidemark empty-cache --all --timeout 0  asks and goes on\n",
                     .options = options()},
          .run = run};
}

}  // namespace tidemark::viewer
