// Work that is done now and then beside a steady one, and takes no more than a small share of a processor: what it took
// says when it is due again. On a machine with thousands of processes looking through them all takes long.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace tidemark::viewer {

// What the calling thread has had of a processor since this was made.
class ProcessorTime {
 public:
  [[nodiscard]] std::chrono::nanoseconds so_far() const { return now() - begin_; }

 private:
  static std::chrono::nanoseconds now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
  }

  std::chrono::nanoseconds begin_ = now();
};

class Chore {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // At least so long apart; due at once.
  explicit Chore(std::chrono::nanoseconds every) : every_(every) {}

  [[nodiscard]] bool is_due(Time now) const { return now >= next_; }

  void was_done(Time now, std::chrono::nanoseconds took) {
    constexpr int kRests = 1000;  // times as long as it worked: 0.1 % of a processor
    constexpr std::chrono::nanoseconds kLongest = std::chrono::minutes{1};
    next_ = now + std::chrono::duration_cast<Time::duration>(std::max(every_, std::min(took * kRests, kLongest)));
  }

 private:
  std::chrono::nanoseconds every_;
  Time next_{};
};

}  // namespace tidemark::viewer
