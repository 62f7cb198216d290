#include "viewer/commands/acting_report.hpp"

#include "viewer/messages.hpp"
#include "viewer/render/results_json.hpp"

#include <fmt/format.h>

namespace tidemark::viewer {

void ActingReport::add(const ProcessOutcome& outcome, const Sentence& sentence) {
  note(outcome.code);
  for (const DeviceOutcome& device : outcome.devices) {
    const ActResult& result = device.result;
    outcomes_.push_back(device);
    if (json_) {
      continue;
    }
    if (result.status == "done" && device.before && device.after) {
      const std::string said = sentence(*device.before, *device.after);
      const bool has_more = !result.detail.empty() && said.find(result.detail) == std::string::npos;
      fmt::print("{} {}: {}{}{}\n", result.pid, result.device, said, has_more ? "; " : "",
                 has_more ? result.detail : "");
    } else if (result.status == "done") {
      fmt::print("{} {}: done; {}\n", result.pid, result.device,
                 device.before ? "its numbers cannot be read any more" : "the process has no device yet");
    } else if (result.status == "deferred" && outcome.code == ExitCode::Done) {
      fmt::print("{} {}: posted; {}\n", result.pid, result.device, result.detail);
    } else {
      warn(fmt::format("{} {}: {}: {}", result.pid, result.device, result.status, result.detail));
    }
  }
}

void ActingReport::add_failure(const Failure& failure) {
  note(failure.code());
  warn(failure.what());
}

ExitCode ActingReport::finish() const {
  if (json_) {
    fmt::print("{}", results_json(outcomes_));
  }
  return code_;
}

}  // namespace tidemark::viewer
