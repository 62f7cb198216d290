#include "shim/stacks/stack_memory.hpp"

#include <atomic>

#include "shim/stacks/readable.hpp"

// The loader's: where the first thread's stack began.
extern "C" void* __libc_stack_end;

namespace tidemark::stacks {
namespace {

// Below its beginning the kernel keeps 128 MiB and more free for the first thread's stack: what is not farther away
// than this (its usual limit) is that stack.
constexpr std::uintptr_t kFirstStack = std::uintptr_t{8} << 20;

// As far as a thread asks page by page whether it is on its own stack; from farther down each walk asks for itself.
constexpr std::uintptr_t kFarthest = std::uintptr_t{1} << 20;
constexpr unsigned kMostMisses = 8;  // a thread that runs fibers soon stops asking

// What a thread knows about its own stack: memory from `low` to `top`. It never shrinks while the thread lives.
struct OwnStack {
  std::uintptr_t low;
  std::uintptr_t top;
  unsigned misses;
};

constinit thread_local OwnStack own_stack __attribute__((tls_model("initial-exec"))){};

// glibc puts a thread's control block at the top of its stack, even of one that the program gave it.
std::uintptr_t thread_pointer() noexcept {
  std::uintptr_t pointer = 0;
#if defined(__x86_64__)
  asm("movq %%fs:0, %0" : "=r"(pointer));
#else
  asm("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
  return pointer;
}

bool all_readable(std::uintptr_t from, std::uintptr_t to) noexcept {
  for (std::uintptr_t page = page_of(from); page < to; page += kPage) {
    if (!is_readable(page)) {
      return false;
    }
  }
  return true;
}

// The end of the thread's own stack, if `stack_pointer` is on it; else 0.
std::uintptr_t top_of_own(std::uintptr_t stack_pointer) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  if (stack_pointer < first && first - stack_pointer < kFirstStack) {
    return first & ~std::uintptr_t{7};
  }
  OwnStack& own = own_stack;
  if (stack_pointer >= own.low && stack_pointer < own.top) {
    return own.top;
  }
  const std::uintptr_t known = own.top != 0 ? own.low : thread_pointer();
  if (own.misses >= kMostMisses || stack_pointer >= known || known - stack_pointer > kFarthest) {
    return 0;
  }
  if (!all_readable(stack_pointer, known)) {  // a guard page in between: another stack
    ++own.misses;
    return 0;
  }
  // A signal handler may look in between: `top` first, which means nothing without `low`.
  if (own.top == 0) {
    own.low = known;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    own.top = known & ~std::uintptr_t{7};
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  own.low = page_of(stack_pointer);
  return own.top;
}

}  // namespace

StackMemory::StackMemory(std::uintptr_t stack_pointer) noexcept
    : low_(stack_pointer), high_(top_of_own(stack_pointer)) {
  if (high_ == 0) {
    high_ = page_of(stack_pointer) + kPage;
  }
}

bool StackMemory::find(std::uintptr_t address) noexcept {
  if (questions_ >= kMostQuestions) {
    return false;
  }
  ++questions_;
  const std::uintptr_t page = page_of(address);
  if (page < kPage || !is_readable(page)) {
    return false;
  }
  // The next page of the same stack, or a look at another one.
  if (page != high_) {
    low_ = page;
  }
  high_ = page + kPage;
  return true;
}

}  // namespace tidemark::stacks
