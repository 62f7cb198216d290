// OtherProcess: a request, and what became of it in the words of tidemark.h.
#include <string>

#include "client/library/failure.hpp"
#include "client/library/other_process.hpp"
#include "shared/control/obstacle.hpp"
#include "shared/control/policy.hpp"

namespace tidemark::client {
namespace {

[[noreturn]] void fail_for(control::Obstacle obstacle) {
  using control::Obstacle;
  switch (obstacle) {
    case Obstacle::Off:
      throw Failure(TIDEMARK_ERROR_PERMISSION, "the process takes no requests (TIDEMARK_CONTROL=off)");
    case Obstacle::OtherUser:
      throw Failure(TIDEMARK_ERROR_PERMISSION, "the process became another user and can't look at its control file");
    case Obstacle::Replaced:
      throw Failure(TIDEMARK_ERROR_BAD_SEGMENT, "its control file was replaced or is damaged");
    default:
      throw Failure(TIDEMARK_ERROR_UNSUPPORTED,
                    "its control file was removed, changed or is out of its reach: it can be read, but asked nothing");
  }
}

[[noreturn]] void fail_for(Error error) {
  switch (error.code) {
    case ErrorCode::PermissionDenied:
      throw Failure(TIDEMARK_ERROR_PERMISSION, "only the process's owner and root may ask it");
    case ErrorCode::WrongVersion:
      throw Failure(TIDEMARK_ERROR_WRONG_VERSION, "its control file has another version");
    case ErrorCode::Timeout:
      throw Failure(TIDEMARK_ERROR_BUSY, "31 others hold all places of its control file");
    default:
      throw system_failure("its control file", error.native);
  }
}

void check(const control::Outcome& outcome) {
  using control::OutcomeKind;
  const auto detail = [&](const char* otherwise) { return outcome.detail.empty() ? otherwise : outcome.detail; };
  switch (outcome.kind) {
    case OutcomeKind::Done:
      return;
    case OutcomeKind::Deferred:
      throw Failure(TIDEMARK_ERROR_DEFERRED, detail("waits for the program's next allocation or free"));
    case OutcomeKind::Refused:
      throw Failure(outcome.status == segment::AckStatus::Invalid   ? TIDEMARK_ERROR_INVALID_ARGUMENT
                    : outcome.status == segment::AckStatus::Refused ? TIDEMARK_ERROR_PERMISSION
                                                                    : TIDEMARK_ERROR_UNSUPPORTED,
                    detail("the process refused it"));
    case OutcomeKind::Gone:
      throw Failure(TIDEMARK_ERROR_GONE, "the process has ended");
    case OutcomeKind::Closed:
      throw Failure(TIDEMARK_ERROR_UNSUPPORTED, "the process can no longer open its control file");
    case OutcomeKind::Timeout:
    case OutcomeKind::Indeterminate:
      throw Failure(TIDEMARK_ERROR_TIMEOUT, detail("no answer in time"));
  }
}

}  // namespace

std::uint32_t OtherProcess::ask(const control::Order& order, std::chrono::milliseconds timeout) {
  if (!reader_.is_owner_alive()) {
    throw Failure(TIDEMARK_ERROR_GONE, "the process has ended");
  }
  const segment::ControlPolicy policy = reader_.globals().control_policy;
  if (policy == segment::ControlPolicy::Peaks && !control::is_allowed(policy, order.operation)) {
    throw Failure(TIDEMARK_ERROR_PERMISSION, "the process allows peak resets only (TIDEMARK_CONTROL=peaks)");
  }
  Result<control::ControlClient> client = control::ControlClient::open(reader_, timeout);
  const auto fail_if_seen = [this] {
    if (!reader_.is_owner_alive() || reader_.globals().exit_realtime_ns != 0) {
      throw Failure(TIDEMARK_ERROR_GONE, "the process has ended");
    }
    if (const control::Obstacle obstacle = control::find_obstacle(reader_); obstacle != control::Obstacle::None) {
      fail_for(obstacle);
    }
  };
  if (!client) {
    fail_if_seen();
    fail_for(client.error());
  }
  const control::Outcome outcome = client.value().request(order, timeout);
  if (outcome.status == segment::AckStatus::None) {  // the process itself has said nothing
    fail_if_seen();
  }
  check(outcome);
  return client.value().slot();
}

}  // namespace tidemark::client
