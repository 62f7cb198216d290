#include "viewer/commands/acting.hpp"

#include "viewer/duration_text.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--all", "-a", Takes::Nothing, "", "every living process that may be asked"},
    OptionSpec{"--device", "-d", Takes::Value, "DEVICE", "cuda:N, mtia:N, N, a uuid's beginning, or all (default)"},
    OptionSpec{"--timeout", "-t", Takes::Value, "SEC", "how long to wait for the process"},
    OptionSpec{"--json", "", Takes::Nothing, "", "results as one JSON document"},
};

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void add(const ProcessOutcome& outcome, const Sentence& sentence) {
    note(outcome.code);
    for (const DeviceOutcome& device : outcome.devices) {
      const ActResult& result = device.result;
      results_.push_back(result);
      if (json_) {
        continue;
      }
      if (result.status == "done") {
        fmt::print("{} {}: {}\n", result.pid, result.device, sentence(device));
      } else if (result.status == "deferred" && outcome.code == ExitCode::Done) {
        fmt::print("{} {}: posted; {}\n", result.pid, result.device, result.detail);
      } else {
        warn(fmt::format("{} {}: {}: {}", result.pid, result.device, result.status, result.detail));
      }
    }
  }

  void add_failure(const Failure& failure) {
    note(failure.code());
    warn(failure.what());
  }

  ExitCode finish() const {
    if (json_) {
      fmt::print("{}", results_json(results_));
    }
    return code_;
  }

 private:
  void note(ExitCode code) { code_ = code_ == ExitCode::Done ? code : code_; }

  bool json_;
  ExitCode code_ = ExitCode::Done;
  std::vector<ActResult> results_;
};

// Every living process with such a device; one without it is none of our business.
void act_on_all(const View& view, const Action& action, const Context& context, const Sentence& sentence,
                Report& report) {
  std::size_t asked = 0;
  std::optional<Failure> missing;
  for (const ProcessView& process : view.processes) {
    if (!process.is_alive()) {
      continue;
    }
    try {
      report.add(act_on(process, action), sentence);
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
  } else if (asked == 0) {
    context.messages.note("no living process; start one with: tidemark run -- CMD");
  }
  if (!view.hidden.empty()) {
    context.messages.note(fmt::format("{} of other users left alone", view.hidden.size()));
  }
}

}  // namespace

std::span<const OptionSpec> acting_options() { return kOptions; }

ExitCode act_on_targets(const Arguments& arguments, const Context& context, std::string_view command, Action action,
                        const Sentence& sentence) {
  const std::vector<std::string>& targets = arguments.operands();
  const bool all = arguments.has("--all");
  if (targets.empty() != all) {
    throw Failure(ExitCode::Usage,
                  fmt::format(fmt::runtime(all ? "{}: targets or --all, not both"
                                               : "{}: needs a TARGET (a pid, an id or a label) or --all"),
                              command));
  }
  action.device = arguments.value("--device").value_or("all");
  if (const auto text = arguments.value("--timeout")) {
    const auto timeout = parse_duration(*text);
    if (!timeout) {
      throw Failure(ExitCode::Usage, fmt::format("{}: --timeout '{}'; allowed: {}", command, *text, kDurationForms));
    }
    action.timeout = *timeout;
    action.post_only = timeout->count() == 0;
  }
  const View view = collect(context.directories);
  Report report{arguments.has("--json")};
  if (all) {
    act_on_all(view, action, context, sentence, report);
    return report.finish();
  }
  for (const std::string& target : targets) {
    try {
      report.add(act_on(view.processes[resolve_target(view, target)], action), sentence);
    } catch (const Failure& failure) {
      report.add_failure(failure);
    }
  }
  return report.finish();
}

}  // namespace tidemark::viewer
