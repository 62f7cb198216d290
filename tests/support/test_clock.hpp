// A clock that stands until the test moves it. One for the process; each test starts it anew.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/alloc/clock.hpp"

namespace tidemark::test {

class TestClock {
 public:
  static void set(std::uint64_t now_ns) { now_.store(now_ns); }
  static void advance(std::uint64_t by_ns) { now_.fetch_add(by_ns); }
  [[nodiscard]] static std::uint64_t now() { return now_.load(); }

  [[nodiscard]] static alloc::Clock clock() { return {.monotonic_ns = read, .realtime_ns = read_realtime}; }
  static constexpr std::uint64_t kEpoch = 1'790'000'000'000'000'000;  // what the wall clock is ahead

 private:
  static std::uint64_t read() noexcept { return now_.load(); }
  static std::uint64_t read_realtime() noexcept { return kEpoch + now_.load(); }

  static inline std::atomic<std::uint64_t> now_{0};
};

}  // namespace tidemark::test
