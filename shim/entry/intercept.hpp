// The only ways from an exported function into the rest of the library. Where the library is off (TIDEMARK_MODE,
// TIDEMARK_SKIP) and inside one of our own driver calls none of them leads there. errno is afterwards as the driver's
// function left it, or as it was.
#pragma once

#include "shim/hook/kept_errno.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/answer.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::entry {

// Does a call start the runtime? An allocation does; everything else matters only once there was one.
enum class Starts { No, Yes };

// What the driver does with a call that is not ours: out of the way of those that are.
template <class Theirs>
[[gnu::noinline, gnu::cold]] auto forward(Theirs&& theirs) noexcept -> decltype(theirs()) {
  const hook::CancellationAway cancellation;
  return theirs();
}

// ours(Runtime&) answers the driver's code, or nothing; theirs() is the driver's own function. Inside one of our own
// driver calls (or a driver that calls itself through us) only `theirs` runs. It runs outside the guard: what the
// driver calls from there is the program's again.
template <Starts starts = Starts::No, class Ours, class Theirs>
auto intercept(Ours&& ours, Theirs&& theirs) noexcept -> decltype(theirs()) {
  {
    const hook::KeptErrno kept_errno;
    const hook::ReentryGuard guard;
    if (!guard.is_reentrant()) [[likely]] {
      runtime::Runtime* runtime = starts == Starts::Yes ? runtime::build_runtime() : runtime::runtime_if_built();
      if (runtime != nullptr) [[likely]] {
        if (const runtime::Answer<decltype(theirs())> answer = ours(*runtime); answer.is_ours()) [[likely]] {
          return answer.code();
        }
      }
    }
  }
  return forward(theirs);
}

// Work of ours before or after a call that is the driver's whatever we do.
template <class Work>
void beside(Work&& work) noexcept {
  const hook::KeptErrno kept_errno;
  const hook::ReentryGuard guard;
  if (!guard.is_reentrant() && runtime::build_runtime() != nullptr) {
    const hook::CancellationAway cancellation;
    work();
  }
}

}  // namespace tidemark::entry
