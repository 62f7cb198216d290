#include "shared/history/words.hpp"

namespace tidemark::history {

const char* to_text(Action action) noexcept {
  switch (action) {
    case Action::Alloc:
      return "alloc";
    case Action::FreeRequested:
      return "free_requested";
    case Action::FreeCompleted:
      return "free_completed";
    case Action::SegmentAlloc:
      return "segment_alloc";
    case Action::SegmentFree:
      return "segment_free";
    case Action::OutOfMemory:
      return "oom";
    case Action::Snapshot:
      return "snapshot";
    case Action::PeakReset:
      return "peak_reset";
    case Action::None:
      break;
  }
  return "?";
}

const char* to_text(BlockState state) noexcept {
  switch (state) {
    case BlockState::Inactive:
      return "inactive";
    case BlockState::Allocated:
      return "active_allocated";
    case BlockState::Pending:
      return "active_pending_free";
    case BlockState::None:
    case BlockState::Unknown:
      break;
  }
  return "unknown";
}

const char* to_text(Enabled enabled) noexcept {
  switch (enabled) {
    case Enabled::Off:
      return "off";
    case Enabled::State:
      return "state";
    case Enabled::All:
      return "all";
  }
  return "?";
}

const char* to_text(Stacks stacks) noexcept {
  switch (stacks) {
    case Stacks::None:
      return "none";
    case Stacks::Cpp:
      return "cpp";
    case Stacks::Python:
      return "python";
    case Stacks::All:
      return "all";
  }
  return "?";
}

}  // namespace tidemark::history
