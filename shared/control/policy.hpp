// Which requests a process obeys (TIDEMARK_CONTROL). Pure.
#pragma once

#include "shared/control/layout.hpp"
#include "shared/segment/process_words.hpp"

namespace tidemark::control {

[[nodiscard]] constexpr bool is_allowed(segment::ControlPolicy policy, Operation operation) {
  using segment::ControlPolicy;
  switch (operation) {
    case Operation::Nop:
    case Operation::Ping:
      return true;
    case Operation::ResetPeak:
    case Operation::Snapshot:
    case Operation::BeginPeak:
    case Operation::ReadPeak:
      return policy == ControlPolicy::Peaks || policy == ControlPolicy::Full;
    default:
      return policy == ControlPolicy::Full;
  }
}

}  // namespace tidemark::control
