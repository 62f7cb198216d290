// The ranges that each thread has pushed and not yet popped, by domain. A thread has the first stack that is free, from
// its first push to its end; nobody tells us of the end, so the stacks of threads that are gone are looked for when
// somebody wants what they hold.
//
// Threads: any, each its own stack. No heap: pages of its own, made on first use. In a forked child what was pushed
// before is still there to be popped, at its level, and not measured: it is the parent's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "shim/nvtx/measure.hpp"

namespace tidemark::nvtx {

class ThreadStacks {
 public:
  static constexpr std::size_t kMostThreads = 256;
  static constexpr std::size_t kMostDomains = 130;  // Ranges::domain_number()
  static constexpr std::size_t kMostRanges = 64;    // on one stack; deeper ones are followed and not measured

  constexpr ThreadStacks() = default;
  ThreadStacks(const ThreadStacks&) = delete;
  ThreadStacks& operator=(const ThreadStacks&) = delete;

  // The level of a range that `begin()` begins, from 0; nothing: this thread has no stack. Requires: `domain` <
  // kMostDomains.
  template <class Begin>
  [[nodiscard]] std::optional<int> push(std::uint32_t domain, Measure& measure, Begin&& begin) noexcept {
    Stack* const stack = own_stack(measure);
    if (stack == nullptr) {
      return std::nullopt;
    }
    const std::uint32_t level = stack->levels[domain]++;
    if (stack->count < kMostRanges) {
      stack->entries[stack->count] = {.range = begin(), .domain = domain, .level = level};
      ++stack->count;
    }
    return static_cast<int>(level);
  }

  struct Popped {
    int level = 0;
    std::optional<Range> range;  // to be ended; nothing: it isn't measured
  };
  // Nothing: no stack, or nothing open in this domain.
  [[nodiscard]] std::optional<Popped> pop(std::uint32_t domain, Measure& measure) noexcept;

  // Where something has run out: drops what is left of threads that are gone. True: some were. After a look in vain
  // the next ones are left out, since each asks the kernel after every thread.
  bool reclaim(Measure& measure) noexcept;

 private:
  struct Entry {
    Range range;
    std::uint32_t domain;
    std::uint32_t level;
  };
  struct Stack {
    std::atomic<std::uint64_t> owner;  // number of the process, thread id; 0: free
    std::uint32_t count;
    std::array<std::uint32_t, kMostDomains> levels;
    std::array<Entry, kMostRanges> entries;
  };
  struct Pages {
    std::array<Stack, kMostThreads> stacks;
  };

  [[nodiscard]] Stack* own_stack(Measure& measure) noexcept;
  [[nodiscard]] bool look_for_gone(Measure& measure) noexcept;
  [[nodiscard]] Stack* claim(std::uint64_t owner) noexcept;
  [[nodiscard]] Pages* pages() noexcept;

  std::atomic<Pages*> pages_{nullptr};
  std::atomic<std::int32_t> looks_to_skip_{0};
};

}  // namespace tidemark::nvtx
