#include "viewer/model/asker.hpp"

#include "viewer/model/act.hpp"

#include "shared/control/obstacle.hpp"
#include "shared/control/policy.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tidemark::viewer {
namespace {

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
      return {ExitCode::NotInTime, "timeout", "busy: 31 other viewers hold all places of its control file"};
    default:
      return {ExitCode::Failed, "refused",
              fmt::format("its control file cannot be used ({})", std::strerror(error.native))};
  }
}

Verdict of_outcome(const control::Outcome& outcome, bool may_run_later) {
  const auto detail = [&](std::string_view otherwise) {
    return outcome.detail.empty() ? std::string{otherwise} : outcome.detail;
  };
  switch (outcome.kind) {
    case control::OutcomeKind::Done:
      return {ExitCode::Done, "done", outcome.detail};
    case control::OutcomeKind::Deferred:
      return {may_run_later ? ExitCode::Done : ExitCode::NotInTime, "deferred",
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

}  // namespace

Asker::Asker(const ProcessView& process)
    : state_(process.snapshot.state), policy_(process.snapshot.globals.control_policy), reader_(process.reader) {}

std::optional<Verdict> Asker::open(std::chrono::milliseconds patience) {
  if (state_ == segment::ProcessState::Replaced) {
    return Verdict{ExitCode::NotFound, "gone", "the program was replaced by exec; its last numbers stay"};
  }
  if (state_ != segment::ProcessState::Live && state_ != segment::ProcessState::Stopped) {
    return Verdict{ExitCode::NotFound, "gone",
                   fmt::format("the process is dead ({}); its last numbers stay", to_text(state_))};
  }
  auto opened = control::ControlClient::open(*reader_, patience);
  if (opened) {
    client_.emplace(std::move(opened).value());
    return std::nullopt;
  }
  if (is_ending(*reader_)) {
    return Verdict{ExitCode::NotFound, "gone", "the process ended"};
  }
  return of_obstacle(control::find_obstacle(*reader_)).value_or(of_error(opened.error()));
}

Reply Asker::ask(const control::Order& order, std::chrono::milliseconds timeout) {
  if (policy_ == segment::ControlPolicy::Peaks && !control::is_allowed(policy_, order.operation)) {
    return {.verdict = {ExitCode::PermissionDenied, "refused",
                        "the process allows peak resets only (TIDEMARK_CONTROL=peaks)"},
            .results = {}};
  }
  const auto end = std::chrono::steady_clock::now() + timeout;
  if (!client_) {
    if (auto why_not = open(timeout)) {
      return {.verdict = *std::move(why_not), .results = {}};
    }
  }
  const control::Outcome outcome = client_->request(order, end - std::chrono::steady_clock::now());
  if (is_silent(outcome) && !is_ending(*reader_)) {
    if (auto why = of_obstacle(control::find_obstacle(*reader_))) {
      return {.verdict = *std::move(why), .results = {}};
    }
  }
  return {.verdict = of_outcome(outcome, order.may_run_later), .results = outcome.results};
}

std::string obstacle_of(const ProcessView& process) {
  const auto verdict = of_obstacle(control::find_obstacle(*process.reader));
  return verdict ? verdict->detail : "";
}

}  // namespace tidemark::viewer
