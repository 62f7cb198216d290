// What the commands that act have in common: TARGET...|--all, --device, --timeout, --json, and how results are said.
#pragma once

#include "viewer/context.hpp"
#include "viewer/model/act.hpp"

#include <functional>
#include <span>
#include <string>

namespace tidemark::viewer {

// --all, --device, --timeout, --json.
[[nodiscard]] std::span<const OptionSpec> acting_options();

// One line about a device for which it was done: "peak 3.210 GiB -> 1.000 GiB (allocated now)".
using Sentence = std::function<std::string(const DeviceOutcome&)>;

// Does it to every target and prints what became of each. Done only if all were; else the first failure's code.
[[nodiscard]] ExitCode act_on_targets(const Arguments& arguments, const Context& context, std::string_view command,
                                      Action action, const Sentence& sentence);

}  // namespace tidemark::viewer
