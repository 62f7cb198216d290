// tidemark reset-accumulated: totals and event counts := 0; what is in use and the peaks stay.
#include "viewer/commands/acting.hpp"
#include "viewer/commands/commands.hpp"

namespace tidemark::viewer {
namespace {

ExitCode run(const Arguments& arguments, const Context& context) {
  return act_on_targets(arguments, context, "reset-accumulated", {.operation = control::Operation::ResetAccumulated},
                        [](const Figures&, const Figures&) { return std::string{"totals and event counts are 0"}; });
}

}  // namespace

Command reset_accumulated_command() {
  return {.syntax = {.name = "reset-accumulated",
                     .operands = "TARGET...|--all",
                     .takes = Operands::Any,
                     .summary = "Sets totals and event counts to 0.",
                     .examples = "  tidemark reset-accumulated 4711\n",
                     .options = acting_options()},
          .run = run};
}

}  // namespace tidemark::viewer
