#include "viewer/tui/row_actions.hpp"

#include "viewer/model/act.hpp"
#include "viewer/render/emptied_text.hpp"
#include "viewer/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace tidemark::viewer {
namespace {

// On CUDA the program gives its cache back at its next free: asked for, and not waited for longer than a moment.
constexpr std::chrono::seconds kEmptyTime{1};

std::string reset_text(const Figures& before, const Figures& after) {
  return fmt::format("peak {} -> {} (allocated now)", size_words(before.allocated_peak),
                     size_words(after.allocated_peak));
}

Action action_of(Errand::Kind kind) {
  if (kind == Errand::Kind::EmptyCache) {
    return {.operation = control::Operation::EmptyCache, .timeout = kEmptyTime, .post_only = true};
  }
  return {.operation = control::Operation::ResetPeak};
}

Sampler::Effect act_on_row(const View& view, const RowKey& key, Errand::Kind kind) {
  const auto process = std::find_if(view.processes.begin(), view.processes.end(),
                                    [&](const ProcessView& candidate) { return candidate.id() == key.id; });
  if (process == view.processes.end()) {
    return {.text = "that process is gone", .failed = true};
  }
  Action action = action_of(kind);
  action.device = key.device.empty() ? "all" : key.device;
  const ProcessOutcome outcome = act_on(*process, action);
  const DeviceOutcome& device = outcome.devices.front();
  const std::string whose = fmt::format("{} {}", process->pid(), device.result.device);
  if (device.result.status == "done" && device.before && device.after) {
    const std::string what = kind == Errand::Kind::EmptyCache ? emptied_text(*device.before, *device.after)
                                                              : reset_text(*device.before, *device.after);
    return {.text = fmt::format("{}: {}", whose, what), .failed = false};
  }
  return {.text = fmt::format("{}: {}: {}", whose, device.result.status, device.result.detail),
          .failed = outcome.code != ExitCode::Done};
}

}  // namespace

Sampler::Effect run_errand(const View& view, const Errand& errand, Marks& marks) {
  std::size_t failures = 0;
  Sampler::Effect last;
  Sampler::Effect first_failure;
  for (const RowKey& row : errand.rows) {
    try {
      last = errand.kind == Errand::Kind::MarkPeak ? marks.begin(view, row) : act_on_row(view, row, errand.kind);
    } catch (const Failure& failure) {
      last = {.text = failure.what(), .failed = true};
    }
    if (last.failed && failures++ == 0) {
      first_failure = last;
    }
  }
  if (errand.rows.size() == 1) {
    return last;
  }
  if (failures > 0) {
    return {.text = fmt::format("{} of {} rows failed; {}", failures, errand.rows.size(), first_failure.text),
            .failed = true};
  }
  return {.text = fmt::format("{} rows; {}", errand.rows.size(), last.text), .failed = false};
}

}  // namespace tidemark::viewer
