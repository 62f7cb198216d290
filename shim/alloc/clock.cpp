#include "shim/alloc/clock.hpp"

#include <ctime>

namespace tidemark::alloc {

namespace {

std::uint64_t read(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t read_monotonic() noexcept { return read(CLOCK_MONOTONIC); }
std::uint64_t read_realtime() noexcept { return read(CLOCK_REALTIME); }

}  // namespace

Clock Clock::system() noexcept { return {.monotonic_ns = read_monotonic, .realtime_ns = read_realtime}; }

}  // namespace tidemark::alloc
