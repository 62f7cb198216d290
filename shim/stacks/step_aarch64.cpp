// AArch64: by frame pointers, which its calling convention asks of every function and all distributions keep. Return
// addresses may be signed (PAC); the signature goes.
#include "shim/stacks/capture.hpp"
#include "shim/stacks/step.hpp"

namespace tidemark::stacks {
namespace {

std::uintptr_t without_signature(std::uintptr_t address) noexcept {
  register std::uintptr_t x30 asm("x30") = address;
  asm("hint #7" : "+r"(x30));  // xpaclri, nothing where there are no signatures
  return x30;
}

}  // namespace

Step step(Frame& frame, WalkState& state) noexcept {
  Frame caller{};
  if (frame.fp == 0) {
    return Step::Outermost;
  }
  if (frame.fp + sizeof(std::uintptr_t) < frame.sp || !state.memory.read(frame.fp, caller.fp) ||
      !state.memory.read(frame.fp + sizeof(std::uintptr_t), caller.pc)) {
    return Step::Lost;
  }
  if (caller.pc == 0) {
    return Step::Outermost;
  }
  caller.pc = without_signature(caller.pc);
  caller.sp = frame.fp + 2 * sizeof(std::uintptr_t);
  frame = caller;
  return Step::Went;
}

void forget_unloaded() noexcept {}

}  // namespace tidemark::stacks
