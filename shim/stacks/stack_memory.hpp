// The memory of the stack that is being walked: reads it, and only where there is some.
//
// From the stack pointer up to a thread's own first frame there is always memory, so on a thread's own stack one
// comparison is enough. Every other stack (a signal's, a fiber's, a goroutine's, any that the program mapped) can be
// gone at the next call: there each page is asked for anew, in every walk. Threads: one walk, one object.
#pragma once

#include <cstdint>

namespace tidemark::stacks {

class StackMemory {
 public:
  // Requires: `stack_pointer` is the calling thread's, or above it on the same stack.
  explicit StackMemory(std::uintptr_t stack_pointer) noexcept;

  // False: not aligned, or no memory there.
  [[nodiscard]] bool read(std::uintptr_t address, std::uintptr_t& word) noexcept {
    if ((address & 7) != 0) {
      return false;
    }
    if ((address < low_ || address >= high_) && !find(address)) {
      return false;
    }
    word = load(address);
    return true;
  }

 private:
  // An instruction that no sanitizer sees: what lies between a function's variables is read here on purpose.
  static std::uintptr_t load(std::uintptr_t address) noexcept {
    std::uintptr_t word = 0;
#if defined(__x86_64__)
    asm volatile("movq (%1), %0" : "=r"(word) : "r"(address));
#else
    asm volatile("ldr %0, [%1]" : "=r"(word) : "r"(address));
#endif
    return word;
  }

  [[nodiscard]] bool find(std::uintptr_t address) noexcept;

  static constexpr unsigned kMostQuestions = 256;  // 1 MiB of frames, as deep as a walk goes

  std::uintptr_t low_;
  std::uintptr_t high_;
  unsigned questions_ = 0;
};

}  // namespace tidemark::stacks
