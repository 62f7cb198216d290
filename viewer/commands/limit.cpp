// tidemark limit: how much a running program may reserve on a device, changed at once.
#include "viewer/commands/acting.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/size_text.hpp"

#include "shared/base/size_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kAboveLimit = "more is reserved: growth is refused until frees bring it below";

// What was typed: bytes, a share of each device's capacity, or neither for none.
struct Amount {
  std::optional<std::uint64_t> bytes;
  std::optional<unsigned> percent;
};

Amount amount_of(std::string_view text) {
  if (text == "none") {
    return {};
  }
  if (text.ends_with('%')) {
    unsigned percent = 0;
    const char* const end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data(), end, percent);
    if (error == std::errc{} && stop == end && percent > 0 && percent <= 100) {
      return {.bytes = std::nullopt, .percent = percent};
    }
  } else if (const auto size = parse_size(text); size && size->count() > 0) {
    return {.bytes = size->count(), .percent = std::nullopt};
  }
  throw Failure(ExitCode::Usage,
                fmt::format("limit: '{}'; allowed: {}, above 0; 1% to 100% of the device; none", text, kSizeForms));
}

// Each device has a capacity of its own, so each gets a request of its own.
ProcessOutcome set_shares(const ProcessView& process, Action action, unsigned percent) {
  const std::vector<std::size_t> devices = resolve_devices(process, action.device);
  if (devices.empty()) {
    throw Failure(ExitCode::NotFound, fmt::format("process {} has no device yet", process.pid()));
  }
  std::vector<Action> each;
  for (const std::size_t i : devices) {
    const DeviceView& device = process.devices[i];
    if (!device.figures.capacity) {
      throw Failure(ExitCode::Failed, fmt::format("process {}: the capacity of {} is not known; give a size",
                                                  process.pid(), device.name));
    }
    const std::uint64_t capacity = *device.figures.capacity;
    action.device = device.name;
    action.arguments = {capacity / 100 * percent + capacity % 100 * percent / 100};
    each.push_back(action);
  }
  ProcessOutcome all;
  for (const Action& one : each) {
    ProcessOutcome outcome = act_on(process, one);
    all.code = all.code == ExitCode::Done ? outcome.code : all.code;
    std::move(outcome.devices.begin(), outcome.devices.end(), std::back_inserter(all.devices));
  }
  return all;
}

ProcessOutcome set_limit(const ProcessView& process, Action action, const Amount& amount) {
  action.operation = amount.bytes || amount.percent ? control::Operation::SetLimit : control::Operation::ClearLimit;
  if (amount.percent) {
    return set_shares(process, action, *amount.percent);
  }
  action.arguments = {amount.bytes.value_or(0)};
  return act_on(process, action);
}

bool is_above_limit(const Figures& now) { return now.limit && now.reserved > *now.limit; }

std::string limit_words(const std::optional<std::uint64_t>& limit) { return limit ? size_words(*limit) : "none"; }

std::string limit_text(const Figures& before, const Figures& after) {
  std::string text = fmt::format("limit {} -> {}", limit_words(before.limit), limit_words(after.limit));
  if (is_above_limit(after)) {
    text += fmt::format("; {} ({})", kAboveLimit, size_words(after.reserved));
  }
  if (after.limit && after.held > after.reserved) {
    text += fmt::format("; {} of other kinds are not under it", size_words(after.held - after.reserved));
  }
  return text;
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const std::vector<std::string>& words = arguments.operands();
  if (words.size() != 2) {
    throw Failure(ExitCode::Usage, "limit: needs a TARGET and a SIZE or none: tidemark limit 4711 8GiB");
  }
  const Amount amount = amount_of(words[1]);
  Action action;
  read_acting_options(arguments, "limit", action);
  View view = collect(context.directories);
  number_devices(view, action.device);
  ActingReport report{arguments.has("--json")};
  ProcessOutcome outcome = set_limit(view.processes[resolve_target(view, words[0])], action, amount);
  for (DeviceOutcome& device : outcome.devices) {
    if (device.after && is_above_limit(*device.after)) {
      device.result.detail = kAboveLimit;
    }
  }
  report.add(outcome, limit_text);
  return report.finish();
}

std::span<const OptionSpec> options() {
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> list;
    for (const OptionSpec& option : acting_options()) {
      if (option.name != "--all") {
        list.push_back(option);
      }
    }
    return list;
  }();
  return all;
}

}  // namespace

Command limit_command() {
  return {.syntax = {.name = "limit",
                     .operands = "TARGET SIZE|none",
                     .takes = Operands::Any,
                     .summary = "Changes how much a running program may reserve on each device it uses.",
                     .examples = "  tidemark limit 4711 8GiB\n"
                                 "  tidemark limit train 80% --device cuda:0   of what the device has\n"
                                 "  tidemark limit 4711 none\n",
                     .options = options()},
          .run = run};
}

}  // namespace tidemark::viewer
