// tidemark record: memory history on and off, in a running program.
#include "viewer/commands/acting.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/number_text.hpp"

#include "shared/history/words.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

// All space of a history is taken at once, which can take a while.
constexpr std::chrono::seconds kPatience{10};

history::Enabled enabled_of(const Arguments& arguments) {
  const std::string text = arguments.value("--enabled").value_or("all");
  for (const history::Enabled enabled : {history::Enabled::State, history::Enabled::All}) {
    if (text == to_text(enabled)) {
      return enabled;
    }
  }
  throw Failure(ExitCode::Usage, fmt::format("record: --enabled '{}'; allowed: state all", text));
}

history::Stacks stacks_of(const Arguments& arguments) {
  const std::string text = arguments.value("--stacks").value_or("all");
  for (const history::Stacks stacks :
       {history::Stacks::None, history::Stacks::Cpp, history::Stacks::Python, history::Stacks::All}) {
    if (text == to_text(stacks)) {
      return stacks;
    }
  }
  throw Failure(ExitCode::Usage, fmt::format("record: --stacks '{}'; allowed: all cpp python none", text));
}

std::uint64_t entries_of(const Arguments& arguments) {
  const auto text = arguments.value("--max-entries");
  if (!text) {
    return history::kDefaultEntries;
  }
  const auto entries = parse_large_count(*text);
  if (!entries || *entries == 0 || *entries > history::kMostEntries) {
    throw Failure(ExitCode::Usage, fmt::format("record: --max-entries '{}'; allowed: 1 to {}, also as 500k, 1M or 1G",
                                               *text, history::kMostEntries));
  }
  return *entries;
}

// To record something else begins anew, and the history so far goes.
void tell_loss(const ProcessView& before, const Context& context) {
  if (!before.recording || !before.reader) {
    return;
  }
  ProcessView now = look_again(before);
  read_recording(now);
  if (!now.recording || now.recording->since_ns == before.recording->since_ns) {
    return;
  }
  context.messages.note(
      fmt::format("process {}: the recording was begun anew; what it had recorded since {} ({}, stacks "
                  "{}) is gone",
                  before.pid(), clock_text(before.recording->since_ns, now.recording->since_ns),
                  to_text(before.recording->enabled), to_text(before.recording->stacks)));
}

ExitCode start(const Arguments& arguments, const std::vector<std::string>& targets, const Context& context) {
  const history::Enabled enabled = enabled_of(arguments);
  const std::uint64_t entries = entries_of(arguments);
  const Action action{
      .operation = control::Operation::RecordStart,
      .arguments = {static_cast<std::uint64_t>(enabled), static_cast<std::uint64_t>(stacks_of(arguments)), entries},
      .timeout = kPatience};
  std::string said = enabled == history::Enabled::State ? "records what is in use"
                     : entries == 1
                         ? "records its last event"
                         : fmt::format("records its last {} events", grouped(static_cast<std::int64_t>(entries)));
  return act_on_targets(
      arguments, targets, context, "record start", action, [&](const Figures&, const Figures&) { return said; },
      [&](const ProcessView& before) { tell_loss(before, context); });
}

ExitCode stop(const Arguments& arguments, const std::vector<std::string>& targets, const Context& context) {
  for (const std::string_view option : {"--enabled", "--stacks", "--max-entries"}) {
    if (arguments.has(option)) {
      throw Failure(ExitCode::Usage, fmt::format("record stop: takes no {}", option));
    }
  }
  return act_on_targets(arguments, targets, context, "record stop",
                        {.operation = control::Operation::RecordStop, .timeout = kPatience},
                        [](const Figures&, const Figures&) { return std::string{"records nothing"}; });
}

ExitCode run(const Arguments& arguments, const Context& context) {
  std::vector<std::string> targets = arguments.operands();
  const std::string what = targets.empty() ? std::string{} : targets.front();
  if (what != "start" && what != "stop") {
    throw Failure(ExitCode::Usage, "record: begins with start or stop: tidemark record start 4711");
  }
  targets.erase(targets.begin());
  return what == "start" ? start(arguments, targets, context) : stop(arguments, targets, context);
}

std::span<const OptionSpec> options() {
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> list{
        {"--enabled", "", Takes::Value, "WHAT", "all (default): events too; state: what is in use alone", "state all"},
        {"--stacks", "", Takes::Value, "WHICH", "all (default), cpp, python, none", "all cpp python none"},
        {"--max-entries", "", Takes::Value, "N",
         "events that are kept of each device (150000); 500k, 1M and 1G are thousands, millions, billions"}};
    for (const OptionSpec& option : acting_options()) {
      if (option.name != "--device") {  // devices are recorded all or none
        list.push_back(option);
      }
    }
    return list;
  }();
  return all;
}

}  // namespace

Command record_command() {
  return {.syntax = {.name = "record",
                     .operands = "start|stop TARGET...|--all",
                     .takes = Operands::Any,
                     .summary = "Begins or ends the memory history of a running program.",
                     .examples = "  tidemark record start 4711\n"
                                 "  tidemark record start train --max-entries 1M\n"
                                 "  tidemark record stop --all         and removes what was recorded\n",
                     .options = options()},
          .run = run};
}

}  // namespace tidemark::viewer
