// tidemark peak: the peaks of an interval of one's own, which disturbs nobody: no reset, and no other viewer's
// interval.
#include "viewer/commands/commands.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/interval.hpp"
#include "viewer/model/own_peak.hpp"
#include "viewer/model/target.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/render/results_json.hpp"
#include "viewer/size_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--device", "-d", Takes::Value, "DEVICE",
               "cuda:N, mtia:N, N, gpu:N, a uuid's beginning, or all (default)"},
    OptionSpec{"--for", "", Takes::Value, "SEC", "how long; otherwise until Enter or Ctrl-C"},
    OptionSpec{"--json", "", Takes::Nothing, "", "the result as one JSON document"},
};

std::optional<std::chrono::milliseconds> length_of(const Arguments& arguments) {
  const auto text = arguments.value("--for");
  if (!text) {
    return std::nullopt;
  }
  if (arguments.program()) {
    throw Failure(ExitCode::Usage, "peak: --for or a program, not both");
  }
  const auto length = parse_duration(*text);
  if (!length) {
    throw Failure(ExitCode::Usage, fmt::format("peak: --for '{}'; allowed: {}", *text, kDurationForms));
  }
  return length;
}

// Nothing to read a line from, so that the interval would end as it begins: closed, or /dev/null.
bool is_stdin_nothing() {
  struct stat found {};
  struct stat null_device {};
  return fstat(STDIN_FILENO, &found) != 0 ||
         (stat("/dev/null", &null_device) == 0 && S_ISCHR(found.st_mode) && found.st_rdev == null_device.st_rdev);
}

std::string known(const std::optional<std::uint64_t>& bytes) { return bytes ? size_words(*bytes) : "-"; }

void print_line(const DeviceOutcome& outcome) {
  const ActResult& result = outcome.result;
  if (!outcome.own_peak) {
    warn(fmt::format("{} {}: {}: {}", result.pid, result.device, result.status, result.detail));
    return;
  }
  const PeakFigures& peak = *outcome.own_peak;
  fmt::print("{} {}: peak of {:.1f} s: allocated {}, reserved {}, held {}\n", result.pid, result.device, peak.seconds,
             known(peak.allocated), known(peak.reserved), known(peak.held));
  if (!result.detail.empty()) {
    warn(fmt::format("{} {}: {}", result.pid, result.device, result.detail));
  }
}

ExitCode print(const ProcessOutcome& outcome, bool json) {
  if (json) {
    fmt::print("{}", results_json(outcome.devices));
  } else {
    for (const DeviceOutcome& device : outcome.devices) {
      print_line(device);
    }
  }
  return outcome.code;
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const auto length = length_of(arguments);
  if (!length && !arguments.program() && is_stdin_nothing()) {
    throw Failure(ExitCode::Usage, "peak: no stdin whose Enter could end it; allowed: --for SEC, or -- CMD");
  }
  const bool json = arguments.has("--json");
  const std::string device = arguments.value("--device").value_or("all");
  View view = collect(context.directories);
  number_devices(view, device);
  const ProcessView process = view.processes[resolve_target(view, arguments.operands().front())];
  view = {};  // the program that runs meanwhile needs none of the other descriptors
  OwnPeak peak(process, device);
  if (const Verdict begun = peak.begin(); begun.status != "done") {
    const ActResult result{
        .id = process.id(), .pid = process.pid(), .device = device, .status = begun.status, .detail = begun.detail};
    return print({.code = begun.code, .devices = {{.result = result}}}, json);
  }
  if (arguments.program()) {
    const auto code = static_cast<ExitCode>(run_program(*arguments.program()));
    const ExitCode told = print(peak.read(), json);
    return code == ExitCode::Done ? told : code;
  }
  if (!length) {
    context.messages.note(fmt::format("the peak of {} from now; Enter ends it", describe(process)));
  }
  wait_for_end(*process.reader, length);
  return print(peak.read(), json);
}

}  // namespace

Command peak_command() {
  return {.syntax = {.name = "peak",
                     .operands = "TARGET [-- CMD ARG...]",
                     .takes = Operands::OneAndProgram,
                     .summary = "Measures the peaks of an interval of your own, until Enter or while CMD runs.",
                     .examples = "  tidemark peak 4711              until Enter\n"
                                 "  tidemark peak 4711 --for 10\n"
                                 "  tidemark peak server -- curl -s localhost:8000/infer   exit code of curl\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
