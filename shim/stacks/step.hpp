// From a frame to its caller's. One file an architecture (step_<processor>.cpp).
#pragma once

#include "shim/stacks/frame.hpp"
#include "shim/stacks/known_object.hpp"
#include "shim/stacks/stack_memory.hpp"

namespace tidemark::stacks {

enum class Step {
  Went,       // `frame` is the caller's now
  Outermost,  // there is no caller: the thread began here
  Lost,       // nothing says how to go on, or what says so is wrong
};

// What a walk keeps between steps.
struct WalkState {
  StackMemory memory;
  KnownObject object{};
  unsigned by_frame_pointer = 0;  // steps in a row without a table
};

[[nodiscard]] Step step(Frame& frame, WalkState& state) noexcept;

}  // namespace tidemark::stacks
