// A helper call of ours failed before what it was for could be done: the thread's context or device could not be asked
// for or changed, an event not be made. That is not the device's error, and never the program's result.
#pragma once

#include "shared/base/result.hpp"

namespace tidemark::backend {

// Put off, as in a capture: nothing was done and nothing is wrong. What the driver answers to every call (at exit, in a
// host function) is its answer here, too. Requires: a failure.
[[nodiscard]] inline Error unasked(const Status& failed) noexcept {
  const ErrorCode code = failed.error().code;
  return code == ErrorCode::NotInitialized || code == ErrorCode::Refused ? failed.error() : Error{ErrorCode::Busy};
}

}  // namespace tidemark::backend
