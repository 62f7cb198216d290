#include "viewer/commands/acting.hpp"

#include "viewer/commands/acting_report.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"
#include "viewer/node/node_watch.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--all", "-a", Takes::Nothing, "", "every living process that may be asked"},
    OptionSpec{"--device", "-d", Takes::Value, "DEVICE",
               "cuda:N, mtia:N, N, gpu:N, a uuid's beginning, or all (default)"},
    OptionSpec{"--timeout", "-t", Takes::Value, "SEC",
               "how long to wait (2 s, empty-cache 5 s, record 10 s); 0: ask and go on"},
    OptionSpec{"--json", "", Takes::Nothing, "", "results as one JSON document"},
};

void act_on_one(const ProcessView& process, const Action& action, const Sentence& sentence, const AfterDone& after,
                ActingReport& report) {
  const ProcessOutcome outcome = act_on(process, action);
  report.add(outcome, sentence);
  if (after && outcome.code == ExitCode::Done) {
    after(process);
  }
}

// Every living process with such a device; one without it is none of our business.
void act_on_all(const View& view, const Action& action, const Context& context, const Sentence& sentence,
                const AfterDone& after, ActingReport& report) {
  std::size_t asked = 0;
  std::optional<Failure> missing;
  for (const ProcessView& process : view.processes) {
    if (!process.is_alive()) {
      continue;
    }
    try {
      act_on_one(process, action, sentence, after, report);
      ++asked;
    } catch (const Failure& failure) {
      if (failure.code() != ExitCode::NotFound) {
        throw;
      }
      missing = failure;
    }
  }
  if (asked == 0 && missing) {
    report.add_failure(*missing);
  } else if (asked == 0 && !view.hidden.empty()) {
    report.add_failure(
        Failure(ExitCode::PermissionDenied,
                fmt::format("no living process that may be asked: {} of other users, whom only they and root may ask",
                            view.hidden.size())));
    return;
  } else if (asked == 0) {
    context.messages.note("no living process; start one with: tidemark run -- CMD");
  }
  if (!view.hidden.empty()) {
    context.messages.note(fmt::format("{} of other users left alone", view.hidden.size()));
  }
}

}  // namespace

std::span<const OptionSpec> acting_options() { return kOptions; }

void read_acting_options(const Arguments& arguments, std::string_view command, Action& action) {
  action.device = arguments.value("--device").value_or("all");
  if (const auto text = arguments.value("--timeout")) {
    const auto timeout = parse_duration(*text);
    if (!timeout) {
      throw Failure(ExitCode::Usage, fmt::format("{}: --timeout '{}'; allowed: {}", command, *text, kDurationForms));
    }
    action.timeout = *timeout;
    action.post_only = timeout->count() == 0;
  }
}

ExitCode act_on_targets(const Arguments& arguments, const Context& context, std::string_view command, Action action,
                        const Sentence& sentence) {
  return act_on_targets(arguments, arguments.operands(), context, command, std::move(action), sentence);
}

ExitCode act_on_targets(const Arguments& arguments, const std::vector<std::string>& targets, const Context& context,
                        std::string_view command, Action action, const Sentence& sentence, const AfterDone& after) {
  const bool all = arguments.has("--all");
  if (targets.empty() != all) {
    throw Failure(ExitCode::Usage,
                  fmt::format(fmt::runtime(all ? "{}: targets or --all, not both"
                                               : "{}: needs a TARGET (a pid, an id or a label) or --all"),
                              command));
  }
  read_acting_options(arguments, command, action);
  View view = collect(context.directories);
  number_devices(view, action.device);
  ActingReport report{arguments.has("--json")};
  if (all) {
    act_on_all(view, action, context, sentence, after, report);
    return report.finish();
  }
  for (const std::string& target : targets) {
    try {
      act_on_one(view.processes[resolve_target(view, target)], action, sentence, after, report);
    } catch (const Failure& failure) {
      report.add_failure(failure);
    }
  }
  return report.finish();
}

}  // namespace tidemark::viewer
