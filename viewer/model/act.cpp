#include "viewer/model/act.hpp"

#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"

#include "shared/control/client.hpp"
#include "shared/control/obstacle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace tidemark::viewer {
namespace {

struct Verdict {
  ExitCode code = ExitCode::Done;
  std::string status;
  std::string detail;
};

// Nothing for Obstacle::None.
std::optional<Verdict> of_obstacle(control::Obstacle obstacle) {
  using control::Obstacle;
  switch (obstacle) {
    case Obstacle::None:
      return std::nullopt;
    case Obstacle::Off:
      return Verdict{ExitCode::PermissionDenied, "refused", "the process takes no requests (TIDEMARK_CONTROL=off)"};
    case Obstacle::Removed:
      return Verdict{ExitCode::Failed, "refused",
                     "its control file was removed: the process can be watched, but asked nothing any more"};
    case Obstacle::Replaced:
      return Verdict{ExitCode::Failed, "refused", "its control file was replaced or is damaged"};
    case Obstacle::Opened:
      return Verdict{ExitCode::Failed, "refused",
                     "the owner or mode of its control file was changed, so the process obeys nothing in it"};
    case Obstacle::OtherUser:
      return Verdict{
          ExitCode::PermissionDenied, "refused",
          "the process became another user after its first allocation and may not look into the directory of its "
          "control file"};
    case Obstacle::OtherRoot:
      return Verdict{ExitCode::Failed, "refused",
                     "the process changed its root directory after its first allocation and cannot find its control "
                     "file"};
    case Obstacle::Closed:
      return Verdict{ExitCode::Failed, "refused", "the process can no longer open its control file"};
  }
  return std::nullopt;
}

Verdict of_error(Error error) {
  switch (error.code) {
    case ErrorCode::PermissionDenied:
      return {ExitCode::PermissionDenied, "refused", "only the process's owner and root may"};
    case ErrorCode::WrongVersion:
      return {ExitCode::WrongLayout, "refused", "its control file has another version; use the tidemark it came with"};
    case ErrorCode::Timeout:
      return {ExitCode::NotInTime, "timeout", "31 viewers are busy with it"};
    default:
      return {ExitCode::Failed, "refused",
              fmt::format("its control file cannot be used ({})", std::strerror(error.native))};
  }
}

Verdict of_outcome(const control::Outcome& outcome, const Action& action) {
  const auto detail = [&](std::string_view otherwise) {
    return outcome.detail.empty() ? std::string{otherwise} : outcome.detail;
  };
  switch (outcome.kind) {
    case control::OutcomeKind::Done:
      return {ExitCode::Done, "done", outcome.detail};
    case control::OutcomeKind::Deferred:
      return {action.post_only ? ExitCode::Done : ExitCode::NotInTime, "deferred",
              detail("waits for the program's next allocation or free")};
    case control::OutcomeKind::Refused:
      // Refused by policy; anything else was tried and is a failure.
      return {outcome.status == segment::AckStatus::Refused ? ExitCode::PermissionDenied : ExitCode::Failed, "refused",
              detail("the process refused it")};
    case control::OutcomeKind::Timeout:
      return {ExitCode::NotInTime, "timeout", detail("no answer in time; withdrawn, it will not run")};
    case control::OutcomeKind::Gone:
      return {ExitCode::NotFound, "gone", detail("the process ended")};
    case control::OutcomeKind::Closed:
      return {ExitCode::Failed, "refused", detail("the process can no longer open its control file")};
    case control::OutcomeKind::Indeterminate:
      return {ExitCode::NotInTime, "timeout", detail("no answer in time; it may still run")};
  }
  return {ExitCode::Failed, "refused", "unknown answer"};
}

// Its files go before the process does.
bool is_ending(const segment::SegmentReader& reader) {
  return !reader.is_owner_alive() || reader.globals().exit_realtime_ns != 0;
}

// The process itself has said nothing about the request.
bool is_silent(const control::Outcome& outcome) {
  return outcome.status == segment::AckStatus::None && outcome.kind != control::OutcomeKind::Gone;
}

Verdict ask(const ProcessView& process, const Action& action, std::uint32_t slot) {
  if (!process.is_alive()) {
    return {ExitCode::NotFound, "gone",
            fmt::format("the process is dead ({}); its last numbers stay", to_text(process.snapshot.state))};
  }
  auto client = control::ControlClient::open(*process.reader);
  if (!client) {
    if (is_ending(*process.reader)) {
      return {ExitCode::NotFound, "gone", "the process ended"};
    }
    return of_obstacle(control::find_obstacle(*process.reader)).value_or(of_error(client.error()));
  }
  const control::Order order{
      .operation = action.operation, .device = slot, .arguments = action.arguments, .may_run_later = action.post_only};
  const control::Outcome outcome = client.value().request(order, action.timeout);
  if (is_silent(outcome) && !is_ending(*process.reader)) {
    if (const auto why = of_obstacle(control::find_obstacle(*process.reader))) {
      return *why;
    }
  }
  return of_outcome(outcome, action);
}

const DeviceView* find_slot(const ProcessView& process, std::uint32_t slot) {
  for (const DeviceView& device : process.devices) {
    if (device.snapshot.slot == slot) {
      return &device;
    }
  }
  return nullptr;
}

}  // namespace

ProcessOutcome act_on(const ProcessView& process, const Action& action) {
  const std::vector<std::size_t> wanted = resolve_devices(process, action.device);
  ProcessOutcome outcome;
  const auto add = [&](const Verdict& verdict, const std::string& device, const Figures& before, const Figures& after) {
    outcome.code = outcome.code == ExitCode::Done ? verdict.code : outcome.code;
    outcome.devices.push_back({.result = {.id = process.id(),
                                          .pid = process.pid(),
                                          .device = device,
                                          .status = verdict.status,
                                          .detail = verdict.detail},
                               .before = before,
                               .after = after});
  };
  if (wanted.empty()) {
    add(ask(process, action, control::kAllDevices), "all", {}, {});
    return outcome;
  }
  // One request for all devices, so that they are done at one moment as far as the process can.
  const bool all = action.device == "all";
  const std::uint32_t slot = all ? control::kAllDevices : process.devices[wanted.front()].snapshot.slot;
  const Verdict verdict = ask(process, action, slot);
  const ProcessView after = process.reader ? look_again(process) : process;
  for (const std::size_t i : wanted) {
    const DeviceView& device = process.devices[i];
    const DeviceView* now = verdict.status == "done" ? find_slot(after, device.snapshot.slot) : nullptr;
    add(verdict, device.name, device.figures, now != nullptr ? now->figures : device.figures);
  }
  return outcome;
}

}  // namespace tidemark::viewer
