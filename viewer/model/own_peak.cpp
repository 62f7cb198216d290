#include "viewer/model/own_peak.hpp"

#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::viewer {
namespace {

const DeviceView* find_slot(const ProcessView& process, std::uint32_t slot) {
  const auto found = std::find_if(process.devices.begin(), process.devices.end(),
                                  [&](const DeviceView& device) { return device.snapshot.slot == slot; });
  return found == process.devices.end() ? nullptr : &*found;
}

// The basis words of one peak, and what is in use.
struct PeakWords {
  BasisWord lifetime;
  BasisWord since_reset;
  std::uint64_t Figures::*current;
};

std::optional<std::uint64_t> peak_between(const DeviceView& before, const DeviceView& now, const PeakWords& words) {
  const DeviceBasis& old = before.snapshot.basis;
  const DeviceBasis& fresh = now.snapshot.basis;
  const bool is_same_reset = fresh[BasisWord::peak_resets] == old[BasisWord::peak_resets];
  const BasisWord word = is_same_reset ? words.since_reset : words.lifetime;
  const bool is_in_use = fresh[word] == std::max(before.figures.*words.current, now.figures.*words.current);
  return is_in_use || fresh[word] > old[word] ? std::optional{fresh[word]} : std::nullopt;
}

}  // namespace

PeakFigures peaks_between(const DeviceView& before, const DeviceView& now) {
  using enum BasisWord;
  return {.seconds = 0,
          .allocated =
              peak_between(before, now, {lifetime_peak_allocated_bytes, peak_all_allocated_bytes, &Figures::allocated}),
          .reserved =
              peak_between(before, now, {lifetime_peak_reserved_bytes, peak_all_reserved_bytes, &Figures::reserved}),
          .held = peak_between(before, now, {lifetime_peak_held_bytes, held_peak_bytes, &Figures::held})};
}

OwnPeak::OwnPeak(const ProcessView& process, std::string device)
    : before_(process), device_(std::move(device)), asker_(process) {
  (void)resolve_devices(before_, device_);
}

Verdict OwnPeak::begin(std::chrono::milliseconds timeout) {
  const std::uint32_t slot = device_ == "all"
                                 ? control::kAllDevices
                                 : before_.devices[resolve_devices(before_, device_).front()].snapshot.slot;
  const Verdict verdict =
      asker_.ask({.operation = control::Operation::BeginPeak, .device = slot, .may_run_later = false}, timeout).verdict;
  if (verdict.status == "done") {
    begun_ = std::chrono::steady_clock::now();
    // Not earlier: a peak that rises after this look is one since begin().
    before_ = look_again(before_);
  }
  return verdict;
}

Verdict OwnPeak::read_device(const DeviceView& now, const DeviceView* before, DeviceOutcome& outcome,
                             std::chrono::milliseconds timeout, bool& has_ended) {
  const Reply reply = asker_.ask(
      {.operation = control::Operation::ReadPeak, .device = now.snapshot.slot, .may_run_later = false}, timeout);
  if (reply.verdict.status == "done") {
    outcome.own_peak = PeakFigures{
        .seconds = 0, .allocated = reply.results[0], .reserved = reply.results[1], .held = reply.results[2]};
    return reply.verdict;
  }
  if (reply.verdict.status != "gone") {
    return reply.verdict;
  }
  has_ended = true;
  const PeakFigures known = peaks_between(before == nullptr ? DeviceView{} : *before, now);
  outcome.own_peak = known;
  if (known.allocated && known.reserved && known.held) {
    return {ExitCode::Done, "done", "the process ended meanwhile"};
  }
  return {ExitCode::NotFound, "gone", "the process ended meanwhile; a peak that is not told was below an earlier one"};
}

ProcessOutcome OwnPeak::read(std::chrono::milliseconds timeout) {
  const std::chrono::duration<double> length = std::chrono::steady_clock::now() - begun_;
  const ProcessView now = look_again(before_);
  ProcessOutcome outcome;
  for (const std::size_t i : resolve_devices(now, device_)) {
    const DeviceView& device = now.devices[i];
    const DeviceView* before = find_slot(before_, device.snapshot.slot);
    DeviceOutcome& one = outcome.devices.emplace_back();
    one.before = before == nullptr ? std::nullopt : std::optional{before->figures};
    const Verdict verdict = read_device(device, before, one, timeout, outcome.has_ended);
    one.result = {.id = now.id(),
                  .pid = before_.pid(),
                  .device = device.name,
                  .status = verdict.status,
                  .detail = verdict.detail};
    if (one.own_peak) {
      one.own_peak->seconds = length.count();
      one.after = device.figures;
    }
    outcome.code = outcome.code == ExitCode::Done ? verdict.code : outcome.code;
  }
  return outcome;
}

}  // namespace tidemark::viewer
