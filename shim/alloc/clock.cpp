#include "shim/alloc/clock.hpp"

#include <atomic>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tidemark::alloc {

namespace {

std::uint64_t read(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t read_realtime() noexcept { return read(CLOCK_REALTIME); }

#if defined(__x86_64__)

// A strict free reads the time twice, and the time-stamp counter costs a third of clock_gettime. Nanoseconds per tick
// are measured once, over the first 10 ms of use: good to a hundred-thousandth, which is plenty for durations.
// Constant-initialised, and the same in a forked child.
constexpr std::uint64_t kCalibrationNs = 10'000'000;
constexpr std::uint64_t kShortestBracket = 2000;  // ticks between two reads with nothing in between but a clock read

constinit std::atomic<std::uint64_t> first_ticks{0};
constinit std::atomic<std::uint64_t> first_ns{0};
constinit std::atomic<std::uint64_t> base_ticks{0};
constinit std::atomic<std::uint64_t> base_ns{0};
constinit std::atomic<std::uint64_t> ns_per_tick_32{0};  // times 2^32; 0: not measured, -1: never
constexpr std::uint64_t kNever = ~std::uint64_t{0};

__extension__ using Wide = __int128;

// It counts at one rate in every power state and on every core.
bool is_counter_invariant() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

std::uint64_t calibrate() noexcept {
  const std::uint64_t before = __rdtsc();
  const std::uint64_t now_ns = read(CLOCK_MONOTONIC);
  const std::uint64_t after = __rdtsc();
  if (after - before > kShortestBracket) {
    return now_ns;  // interrupted in between: another time
  }
  std::uint64_t no_ticks = 0;
  if (first_ticks.compare_exchange_strong(no_ticks, before)) {
    if (!is_counter_invariant()) {
      ns_per_tick_32.store(kNever, std::memory_order_release);
    }
    first_ns.store(now_ns, std::memory_order_release);
    return now_ns;
  }
  const std::uint64_t since_ns = first_ns.load(std::memory_order_acquire);
  std::uint64_t no_base = 0;
  if (since_ns != 0 && elapsed_ns(since_ns, now_ns) >= kCalibrationNs &&
      base_ticks.compare_exchange_strong(no_base, before)) {
    base_ns.store(now_ns, std::memory_order_relaxed);
    const auto ratio =
        static_cast<std::uint64_t>((static_cast<Wide>(now_ns - since_ns) << 32) /
                                   static_cast<Wide>(before - first_ticks.load(std::memory_order_relaxed)));
    ns_per_tick_32.store(ratio, std::memory_order_release);
  }
  return now_ns;
}

std::uint64_t read_monotonic() noexcept {
  const std::uint64_t ratio = ns_per_tick_32.load(std::memory_order_acquire);
  if (ratio == 0) [[unlikely]] {
    return calibrate();
  }
  if (ratio == kNever) [[unlikely]] {
    return read(CLOCK_MONOTONIC);
  }
  // Signed: another core's counter may be a little behind.
  const auto ticks = static_cast<std::int64_t>(__rdtsc() - base_ticks.load(std::memory_order_relaxed));
  return base_ns.load(std::memory_order_relaxed) +
         static_cast<std::uint64_t>((static_cast<Wide>(ticks) * static_cast<Wide>(ratio)) >> 32);
}

#else

std::uint64_t read_monotonic() noexcept { return read(CLOCK_MONOTONIC); }

#endif

}  // namespace

Clock Clock::system() noexcept { return {.monotonic_ns = read_monotonic, .realtime_ns = read_realtime}; }

}  // namespace tidemark::alloc
