// Walks for tests: ours, and the compiler's run-time's as an oracle.
#pragma once

#include <gmock/gmock.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shim/stacks/capture.hpp"
#include "tests/stacks/chain.hpp"

namespace tidemark::stacks {

// Needs no memory of anybody's: it is filled in signal handlers as well.
struct Taken {
  [[nodiscard]] std::span<const std::uintptr_t> frames() const { return std::span{words}.first(walk.frames); }
  [[nodiscard]] Ending ending() const { return walk.ending; }

  std::array<std::uintptr_t, 128> words;
  Walk walk;
};

inline Taken take() {
  Taken taken{};
  taken.walk = capture(taken.words);
  return taken;
}

// What the C++ run-time sees from where this is called.
__attribute__((noinline)) inline std::vector<std::uintptr_t> take_by_run_time() {
  std::vector<std::uintptr_t> frames;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        static_cast<std::vector<std::uintptr_t>*>(data)->push_back(_Unwind_GetIP(context));
        return _URC_NO_REASON;
      },
      &frames);
  while (!frames.empty() && frames.back() == 0) {
    frames.pop_back();
  }
  return frames;
}

// The callers of `function`, through a chain, as a walk at its end saw them.
inline Taken take_at_the_end_of(void (*function)(Chain&), Chain& chain) {
  Taken taken;
  chain.data = &taken;
  chain.at_the_end = [](void* data) { *static_cast<Taken*>(data) = take(); };
  function(chain);
  return taken;
}

// `frames` contains the chain's returns, innermost first, without a gap.
inline testing::AssertionResult goes_through(std::span<const std::uintptr_t> frames, const Chain& chain) {
  std::vector<std::uintptr_t> wanted(chain.returns_to.begin(),
                                     chain.returns_to.begin() + static_cast<std::ptrdiff_t>(chain.depth));
  std::reverse(wanted.begin(), wanted.end());
  if (std::search(frames.begin(), frames.end(), wanted.begin(), wanted.end()) != frames.end()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << testing::PrintToString(wanted) << " is not in "
                                     << testing::PrintToString(frames);
}

}  // namespace tidemark::stacks
