#include "shim/nvtx/thread_stacks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "shim/nvtx/process_number.hpp"

namespace tidemark::nvtx {
namespace {

struct OwnStack {
  void* stack = nullptr;
  std::uint64_t owner = 0;
};
// initial-exec, as hook::thread_state.
constinit thread_local OwnStack own __attribute__((tls_model("initial-exec"))){};

// 256 threads are 50 us of asking, which is then a few times what the ranges themselves cost.
constexpr std::int32_t kSkippedAfterALookInVain = 256;

std::uint64_t owner_of(std::uint32_t process, pid_t thread) noexcept {
  return std::uint64_t{process} << 32 | static_cast<std::uint32_t>(thread);
}

pid_t own_thread() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

bool is_gone(pid_t thread) noexcept { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0 && errno == ESRCH; }

}  // namespace

std::optional<ThreadStacks::Popped> ThreadStacks::pop(std::uint32_t domain, Measure& measure) noexcept {
  if (own.stack == nullptr) {
    return std::nullopt;  // a thread's first word would be a push
  }
  Stack* const stack = own_stack(measure);
  if (stack == nullptr || stack->levels[domain] == 0) {
    return std::nullopt;
  }
  const std::uint32_t level = --stack->levels[domain];
  Popped popped{.level = static_cast<int>(level), .range = {}};
  for (std::uint32_t i = stack->count; i-- > 0;) {
    const Entry& entry = stack->entries[i];
    if (entry.domain == domain && entry.level == level) {
      popped.range = entry.range;
      std::move(stack->entries.begin() + i + 1, stack->entries.begin() + stack->count, stack->entries.begin() + i);
      --stack->count;
      break;
    }
  }
  return popped;
}

// This thread's; null: there are too many. An owner's word changes hands once for all who see it, so that a stack has
// one at most: a living thread's is never taken, and one that a child has inherited is either taken over by the thread
// that has it there or given to another.
ThreadStacks::Stack* ThreadStacks::own_stack(Measure& measure) noexcept {
  const std::uint32_t process = process_number();
  auto* const known = static_cast<Stack*>(own.stack);
  if (known != nullptr && own.owner >> 32 == process && known->owner.load(std::memory_order_relaxed) == own.owner) {
    return known;
  }
  const std::uint64_t wanted = owner_of(process, own_thread());
  if (known != nullptr && known->owner.compare_exchange_strong(own.owner, wanted, std::memory_order_acq_rel)) {
    known->count = 0;
    own.owner = wanted;
    return known;
  }
  own = {};
  Stack* claimed = claim(wanted);
  if (claimed == nullptr && reclaim(measure)) {
    claimed = claim(wanted);
  }
  if (claimed != nullptr) {
    claimed->count = 0;
    claimed->levels.fill(0);
    own = {.stack = claimed, .owner = wanted};
  }
  return claimed;
}

ThreadStacks::Stack* ThreadStacks::claim(std::uint64_t owner) noexcept {
  Pages* const all = pages();
  if (all == nullptr) {
    return nullptr;
  }
  for (Stack& stack : all->stacks) {
    std::uint64_t free = 0;
    if (stack.owner.load(std::memory_order_relaxed) == 0 &&
        stack.owner.compare_exchange_strong(free, owner, std::memory_order_acq_rel)) {
      return &stack;
    }
  }
  return nullptr;
}

bool ThreadStacks::reclaim(Measure& measure) noexcept {
  if (looks_to_skip_.load(std::memory_order_relaxed) > 0) {
    looks_to_skip_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  const bool found = look_for_gone(measure);
  looks_to_skip_.store(found ? 0 : kSkippedAfterALookInVain, std::memory_order_relaxed);
  return found;
}

bool ThreadStacks::look_for_gone(Measure& measure) noexcept {
  Pages* const all = pages_.load(std::memory_order_acquire);
  if (all == nullptr) {
    return false;
  }
  const std::uint32_t process = process_number();
  bool found = false;
  for (Stack& stack : all->stacks) {
    std::uint64_t owner = stack.owner.load(std::memory_order_acquire);
    const bool is_parents = owner >> 32 != process;
    if (owner == 0 || (!is_parents && !is_gone(static_cast<pid_t>(owner & UINT32_MAX)))) {
      continue;
    }
    // Somebody's who is nobody, until it is empty.
    if (!stack.owner.compare_exchange_strong(owner, owner_of(process, 0), std::memory_order_acq_rel)) {
      continue;
    }
    for (std::uint32_t i = 0; i < stack.count && !is_parents; ++i) {
      measure.drop(stack.entries[i].range.mark);
    }
    stack.count = 0;
    stack.owner.store(0, std::memory_order_release);
    found = true;
  }
  return found;
}

ThreadStacks::Pages* ThreadStacks::pages() noexcept {
  Pages* known = pages_.load(std::memory_order_acquire);
  if (known != nullptr) {
    return known;
  }
  void* const memory = ::mmap(nullptr, sizeof(Pages), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  auto* const made = static_cast<Pages*>(memory);
  if (!pages_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) {
    ::munmap(memory, sizeof(Pages));
    return known;
  }
  return made;
}

}  // namespace tidemark::nvtx
