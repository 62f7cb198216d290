// The clock that the allocator is given.
#include "shim/alloc/clock.hpp"

#include <ctime>

#include <gtest/gtest.h>

#include "shim/alloc/wait_sampler.hpp"

namespace tidemark::test {
namespace {

std::uint64_t reference_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// Across the moment at which it turns from the system's clock to the processor's counter.
TEST(Clock, KeepsWithTheSystemsAndNeverTurnsBack) {
  constexpr std::uint64_t kSlack = 1'000'000;
  const alloc::Clock clock = alloc::Clock::system();
  const std::uint64_t begin = reference_ns();
  std::uint64_t last = 0;

  for (std::uint64_t now = begin; now < begin + 40'000'000; now = reference_ns()) {
    const std::uint64_t read = clock.monotonic_ns();
    const std::uint64_t after = reference_ns();
    ASSERT_GE(read + kSlack, now);
    ASSERT_LE(read, after + kSlack);
    ASSERT_GE(read, last);
    last = read;
  }
}

TEST(LazyTime, ReadsTheClockOnceAndOnlyIfAsked) {
  static int reads;
  reads = 0;
  const alloc::Clock clock{
      .monotonic_ns = []() noexcept -> std::uint64_t { return static_cast<std::uint64_t>(++reads); },
      .realtime_ns = nullptr};
  alloc::LazyTime time{clock};

  EXPECT_FALSE(time.is_known());
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(time.ns(), 1U);
  EXPECT_EQ(time.ns(), 1U);
  EXPECT_TRUE(time.is_known());
  EXPECT_EQ(alloc::elapsed_ns(5, 3), 0U);
}

TEST(WaitSampler, TimesEveryWaitThatIsWorthIt) {
  alloc::WaitSampler sampler;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(sampler.is_next_timed());
    EXPECT_EQ(sampler.count_for(1000), 1000U);
  }
}

TEST(WaitSampler, CountsAShortWaitForTheOnesItSkips) {
  alloc::WaitSampler sampler;
  int timed = 0;
  std::uint64_t counted = 0;
  for (int i = 0; i < 160; ++i) {
    if (sampler.is_next_timed()) {
      ++timed;
      counted += sampler.count_for(10);
    }
  }

  EXPECT_EQ(timed, 10);
  EXPECT_EQ(counted, 1600U);
}

TEST(WaitSampler, AWaitThatDidNotTakePlaceSaysNothing) {
  alloc::WaitSampler sampler;
  ASSERT_TRUE(sampler.is_next_timed());

  EXPECT_EQ(sampler.count_for(0), 0U);
  EXPECT_TRUE(sampler.is_next_timed());
}

}  // namespace
}  // namespace tidemark::test
