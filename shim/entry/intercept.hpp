// The only way from an exported function into the rest of the library.
#pragma once

#include <optional>

#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::entry {

// Does a call start the runtime? An allocation does; everything else matters only once there was one.
enum class Starts { No, Yes };

// ours(Runtime&) answers the driver's code, or nothing; theirs() is the driver's own function. Inside one of our own
// driver calls (or a driver that calls itself through us) only `theirs` runs. It runs outside the guard: what the
// driver calls from there is the program's again.
template <Starts starts = Starts::No, class Ours, class Theirs>
auto intercept(Ours&& ours, Theirs&& theirs) noexcept -> decltype(theirs()) {
  {
    const hook::ReentryGuard guard;
    if (!guard.is_reentrant()) {
      runtime::Runtime* runtime = starts == Starts::Yes ? runtime::build_runtime() : runtime::runtime_if_built();
      if (runtime != nullptr) {
        if (const std::optional<decltype(theirs())> code = ours(*runtime)) {
          return *code;
        }
      }
    }
  }
  const hook::CancellationAway cancellation;
  return theirs();
}

}  // namespace tidemark::entry
