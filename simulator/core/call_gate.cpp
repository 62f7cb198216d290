#include "simulator/core/call_gate.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <thread>

#include "simulator/core/scheduler.hpp"

namespace sim {
namespace {

// Below this a sleep would take longer than the delay that is meant.
constexpr std::uint64_t kShortestSleepUs = 200;

void delay(std::uint64_t us) {
  if (us == 0) return;
  const std::chrono::microseconds wanted{us};
  if (us >= kShortestSleepUs) {
    std::this_thread::sleep_for(wanted);
    return;
  }
  const auto until = std::chrono::steady_clock::now() + wanted;
  while (std::chrono::steady_clock::now() < until) {
  }
}

}  // namespace

CallGate::CallGate(const Knobs& knobs, Scheduler* clock)
    : clock_(clock), alloc_us_(knobs.alloc_us), free_us_(knobs.free_us) {
  for (const FailRule& rule : knobs.fail) {
    rules_.push_back(std::make_unique<Rule>());
    rules_.back()->rule = rule;
  }
  if (knobs.trace.empty()) return;
  trace_ = open(knobs.trace.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (trace_ < 0) {
    std::fprintf(stderr, "simulator: cannot trace to %s (%s)\n", knobs.trace.c_str(), std::strerror(errno));
  }
}

CallGate::~CallGate() {
  if (trace_ >= 0) close(trace_);
}

void CallGate::delay_alloc() const { delay(alloc_us_); }
void CallGate::delay_free() const { delay(free_us_); }

CallScope::CallScope(CallGate& gate, const char* name) : gate_(gate), name_(name) {
  if (gate_.clock_ != nullptr) gate_.clock_->tick();
  for (const auto& entry : gate_.rules_) {
    if (entry->rule.call != name) continue;
    const std::uint64_t call = entry->calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (call == entry->rule.nth || (entry->rule.onwards && call > entry->rule.nth)) injected_ = entry->rule.code;
  }
}

void CallScope::note(const char* format, ...) {
  if (gate_.trace_ < 0 || notes_length_ + 2 >= notes_.size()) return;
  notes_[notes_length_++] = ' ';
  std::va_list arguments;
  va_start(arguments, format);
  const std::size_t room = notes_.size() - notes_length_;
  const int wanted = std::vsnprintf(notes_.data() + notes_length_, room, format, arguments);
  va_end(arguments);
  if (wanted > 0) notes_length_ += std::min(static_cast<std::size_t>(wanted), room - 1);
}

void CallScope::trace(int code) {
  std::array<char, 320> line{};
  const unsigned long long tick = gate_.clock_ != nullptr ? gate_.clock_->now() : 0;
  const int length =
      std::snprintf(line.data(), line.size(), "%llu %d %d %.64s%.*s = %d\n", tick, static_cast<int>(getpid()),
                    static_cast<int>(gettid()), name_, static_cast<int>(notes_length_), notes_.data(), code);
  // A trace that can't be written any more is not worth failing the call.
  if (length > 0) (void)!write(gate_.trace_, line.data(), static_cast<std::size_t>(length));
}

}  // namespace sim
