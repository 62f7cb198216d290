#include "shim/stacks/capture.hpp"

#include "shim/hook/own_object.hpp"
#include "shim/stacks/step.hpp"

namespace tidemark::stacks {
namespace {

// Frames of ours in one stack, at most.
constexpr std::size_t kMostOfOurs = 32;

template <class IsLeftOut>
Walk walk(Frame frame, std::span<std::uintptr_t> frames, std::size_t most_left_out,
          const IsLeftOut& is_left_out) noexcept {
  WalkState state{.memory = StackMemory{frame.sp}};
  Walk done;
  std::size_t left_out = 0;
  for (;;) {
    if (left_out < most_left_out && is_left_out(frame)) {
      ++left_out;
    } else if (done.frames == frames.size()) {
      done.ending = Ending::Full;
      return done;
    } else {
      frames[done.frames++] = frame.place() + 1;
    }
    switch (step(frame, state)) {
      case Step::Went:
        break;
      case Step::Outermost:
        done.ending = Ending::Outermost;
        return done;
      case Step::Lost:
        done.ending = Ending::Lost;
        return done;
    }
  }
}

}  // namespace
}  // namespace tidemark::stacks

// Both: the frame address makes the compiler keep a frame pointer, behind which the caller's registers lie.
#define TIDEMARK_CALLERS_FRAME()                                                                     \
  tidemark::stacks::Frame {                                                                          \
    .pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),                             \
    .sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 2 * sizeof(std::uintptr_t), \
    .fp = *static_cast<const std::uintptr_t*>(__builtin_frame_address(0))                            \
  }

namespace tidemark::stacks {

__attribute__((noinline)) Walk capture(std::span<std::uintptr_t> frames, std::size_t skip) noexcept {
  return walk(TIDEMARK_CALLERS_FRAME(), frames, skip, [](const Frame&) { return true; });
}

__attribute__((noinline)) Walk capture_beyond_us(std::span<std::uintptr_t> frames) noexcept {
  return walk(TIDEMARK_CALLERS_FRAME(), frames, kMostOfOurs, [](const Frame& frame) {
    return hook::is_inside_our_object(
        reinterpret_cast<const void*>(frame.place()));  // NOLINT(performance-no-int-to-ptr)
  });
}

}  // namespace tidemark::stacks

#undef TIDEMARK_CALLERS_FRAME
