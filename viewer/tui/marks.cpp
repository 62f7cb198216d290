#include "viewer/tui/marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tidemark::viewer {
namespace {

// A look waits for these answers; a process that was stopped gives none.
constexpr std::chrono::milliseconds kAnswerTime{100};

std::uint64_t realtime_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

Sampler::Effect Marks::begin(const View& view, const RowKey& key) {
  const auto process = std::find_if(view.processes.begin(), view.processes.end(),
                                    [&](const ProcessView& candidate) { return candidate.id() == key.id; });
  if (process == view.processes.end()) {
    return {.text = "that process is gone", .failed = true};
  }
  std::erase_if(marks_, [&](const Mark& mark) { return mark.key == key; });  // its slot is free again
  Mark mark{.key = key,
            .peak = OwnPeak(*process, key.device.empty() ? "all" : key.device),
            .last = {.key = key, .peaks = {}, .since_ns = realtime_ns()}};
  const Verdict verdict = mark.peak.begin();
  const std::string whose = fmt::format("{} {}", process->pid(), key.device);
  if (verdict.status != "done") {
    return {.text = fmt::format("{}: {}: {}", whose, verdict.status, verdict.detail), .failed = true};
  }
  marks_.push_back(std::move(mark));
  return {.text = fmt::format("{}: my peak begins now; no reset touches it", whose), .failed = false};
}

std::vector<MarkedPeak> Marks::read() {
  std::vector<MarkedPeak> all;
  for (Mark& mark : marks_) {
    if (!mark.has_ended) {
      const ProcessOutcome outcome = mark.peak.read(kAnswerTime);
      const auto mine = std::find_if(outcome.devices.begin(), outcome.devices.end(), [&](const DeviceOutcome& device) {
        return device.result.device == mark.key.device;
      });
      mark.last.peaks = mine == outcome.devices.end() ? PeakFigures{} : mine->own_peak.value_or(PeakFigures{});
      mark.has_ended = outcome.has_ended;
    }
    all.push_back(mark.last);
  }
  return all;
}

}  // namespace tidemark::viewer
