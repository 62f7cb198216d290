// What the commands that act have in common: TARGET...|--all, --device, --timeout, --json, and how results are said.
#pragma once

#include "viewer/commands/acting_report.hpp"
#include "viewer/context.hpp"
#include "viewer/model/act.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// --all, --device, --timeout, --json.
[[nodiscard]] std::span<const OptionSpec> acting_options();

// --device and --timeout into `action`. Throws Failure{Usage}.
void read_acting_options(const Arguments& arguments, std::string_view command, Action& action);

// Is called with a process as it was before, where it has done all that was asked.
using AfterDone = std::function<void(const ProcessView&)>;

// Does it to every target and prints what became of each. Done only if all were; else the first failure's code. The
// targets are the operands, or what is left of them.
[[nodiscard]] ExitCode act_on_targets(const Arguments& arguments, const Context& context, std::string_view command,
                                      Action action, const Sentence& sentence);
[[nodiscard]] ExitCode act_on_targets(const Arguments& arguments, const std::vector<std::string>& targets,
                                      const Context& context, std::string_view command, Action action,
                                      const Sentence& sentence, const AfterDone& after = {});

}  // namespace tidemark::viewer
