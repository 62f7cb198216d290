// One frame of a walk: what its function's registers are, as far as a walk needs them.
#pragma once

#include <cstdint>

namespace tidemark::stacks {

struct Frame {
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;
  std::uintptr_t fp = 0;
  bool fp_known = true;
  // `pc` was interrupted there (the frame below is a signal's), and is no return address: those point behind a call,
  // which may be the last instruction of its function.
  bool interrupted = false;

  [[nodiscard]] std::uintptr_t place() const { return interrupted ? pc : pc - 1; }
};

}  // namespace tidemark::stacks
