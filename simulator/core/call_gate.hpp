// What happens at the door of every driver function: the clock ticks, a fault may be injected, a line may be traced.
//
//   sim::CallScope call{gate, "mtiaMalloc"};
//   call.note("size=%zu", size);                                      // only formatted when tracing
//   if (auto code = call.injected()) return call.done(code->value_or(MTIA_ERROR_OUT_OF_MEMORY));
//   ...
//   return call.done(MTIA_SUCCESS);
//
// Any thread may call. A trace line is one write() with O_APPEND: `TICK PID TID NAME NOTES = CODE`.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/knobs.hpp"

namespace sim {

class Scheduler;

class CallGate {
 public:
  // `clock` may be nullptr: nothing ticks. A trace file that can't be opened: a line on stderr, no trace.
  CallGate(const Knobs& knobs, Scheduler* clock);
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;
  ~CallGate();

  // The knobs' delays, for an allocation or a free that reaches the device. Called without any lock held.
  void delay_alloc() const;
  void delay_free() const;

 private:
  friend class CallScope;
  struct Rule {
    FailRule rule;
    std::atomic<std::uint64_t> calls{0};
  };

  Scheduler* const clock_;
  const std::uint64_t alloc_us_;
  const std::uint64_t free_us_;
  std::vector<std::unique_ptr<Rule>> rules_;
  int trace_ = -1;
};

class CallScope {
 public:
  // `name` must outlive the scope.
  CallScope(CallGate& gate, const char* name);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  // An unfinished scope (an exception) leaves no line.
  ~CallScope() = default;

  // A value: this call is to fail, with the code in it or, if that is empty, with what fits the function.
  [[nodiscard]] const std::optional<std::optional<int>>& injected() const { return injected_; }

  // Adds to the trace line.
  __attribute__((format(printf, 2, 3))) void note(const char* format, ...);

  // Writes the trace line and hands `code` back.
  template <class Code>
  Code done(Code code) {
    if (gate_.trace_ >= 0) trace(static_cast<int>(code));
    return code;
  }

 private:
  void trace(int code);

  CallGate& gate_;
  const char* const name_;
  std::optional<std::optional<int>> injected_{};
  std::array<char, 160>
      notes_;  // valid up to notes_length_; clearing it would cost every call more than the call itself
  std::size_t notes_length_ = 0;
};

}  // namespace sim
