// tidemark reset-peak: peak := current, in the process itself, without touching what it does.
#include "viewer/commands/acting.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/size_text.hpp"

#include <fmt/format.h>

namespace tidemark::viewer {
namespace {

ExitCode run(const Arguments& arguments, const Context& context) {
  return act_on_targets(arguments, context, "reset-peak", {.operation = control::Operation::ResetPeak},
                        [](const Figures& before, const Figures& after) {
                          return fmt::format("peak {} -> {} (allocated now)", size_words(before.allocated_peak),
                                             size_words(after.allocated_peak));
                        });
}

}  // namespace

Command reset_peak_command() {
  return {.syntax = {.name = "reset-peak",
                     .operands = "TARGET...|--all",
                     .takes = Operands::Any,
                     .summary = "Sets the peaks to what is in use now.",
                     .examples = "  tidemark reset-peak 4711\n"
                                 "  tidemark reset-peak --all --device cuda:0\n",
                     .options = acting_options()},
          .run = run};
}

}  // namespace tidemark::viewer
