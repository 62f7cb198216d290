// Memory on its way back to the driver: by request, and by policy.
#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

TEST(EmptyCache, GivesIdleSegmentsBackAndKeepsSplitOnes) {
  CacheRig rig;
  const DevicePtr small = rig.allocated(1_KiB);
  rig.freed(rig.allocated(30_MiB));

  const Result<Bytes> given = rig.cache().empty_cache();

  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given.value(), 30_MiB);
  EXPECT_EQ(rig.reserved(), 2_MiB);
  EXPECT_EQ(rig[BasisWord::sync_all_streams], 1U);
  rig.freed(small);
}

TEST(EmptyCache, IsRefusedDuringACapture) {
  CacheRig rig;
  rig.freed(rig.allocated(30_MiB));
  rig.device.begin_capture();

  const Result<Bytes> refused = rig.cache().empty_cache();

  rig.device.end_capture();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  EXPECT_EQ(rig.reserved(), 30_MiB);
}

TEST(EmptyCache, CanBeParkedForTheProgramsNextCall) {
  CacheRig rig;
  rig.freed(rig.allocated(30_MiB));

  const std::uint64_t ticket = rig.cache().park_empty_cache();
  EXPECT_FALSE(rig.cache().is_done(ticket));
  EXPECT_EQ(rig.device.calls().releases, 0U);
  const DevicePtr block = rig.allocated(1_KiB);

  EXPECT_TRUE(rig.cache().is_done(ticket));
  EXPECT_EQ(rig.reserved(), 2_MiB);
  EXPECT_EQ(rig.device.calls().releases, 1U);
  const std::uint64_t next = rig.cache().park_empty_cache();
  EXPECT_FALSE(rig.cache().is_done(next));
  rig.freed(block);
  EXPECT_TRUE(rig.cache().is_done(next)) << "a free is a call, too";
  EXPECT_EQ(rig.reserved(), 0_B);
}

TEST(EmptyCache, ParkedWaitsForAFreeWhereTheDeviceIsAtWork) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(1_KiB);
  rig.freed(rig.allocated(30_MiB));
  const std::uint64_t ticket = rig.cache().park_empty_cache();
  rig.device.submit_work();

  const DevicePtr other = rig.allocated(1_KiB);
  EXPECT_FALSE(rig.cache().is_done(ticket));
  EXPECT_FALSE(rig.device.is_idle());
  rig.freed(block);

  EXPECT_TRUE(rig.cache().is_done(ticket));
  EXPECT_EQ(rig.reserved(), 2_MiB);
  rig.freed(other);
}

TEST(EmptyCache, ParkedStaysParkedWhereTheDriverTakesNoCall) {
  Policy policy;
  policy.free_mode = alloc::FreeMode::Fast;
  CacheRig rig{policy};
  const DevicePtr first = rig.allocated(30_MiB);
  const DevicePtr second = rig.allocated(1_KiB);
  rig.freed(first);
  (void)rig.allocated(30_MiB);  // idle for a moment, so that there is something to refuse
  rig.freed(first);
  const std::uint64_t ticket = rig.cache().park_empty_cache();

  rig.device.refuse_calls(true);
  rig.freed(second);
  EXPECT_EQ(rig.reserved(), 32_MiB);
  rig.device.refuse_calls(false);
  rig.freed(rig.allocated(1_KiB));

  EXPECT_TRUE(rig.cache().is_done(ticket));
}

TEST(EmptyCache, ADriverThatRefusesIsNotAskedAgain) {
  CacheRig rig;
  rig.freed(rig.allocated(30_MiB));
  rig.freed(rig.allocated(20_MiB));
  rig.device.fail_releases(2);

  const Result<Bytes> given = rig.cache().empty_cache();

  ASSERT_FALSE(given.ok());
  EXPECT_EQ(given.error().native, kFakeSticky);
  EXPECT_EQ(rig.reserved(), 50_MiB) << "what did not go back is still booked";
  EXPECT_EQ(rig[BasisWord::device_frees], 0U);
  rig.device.fail_releases(0);
  EXPECT_TRUE(rig.cache().empty_cache().ok());
  EXPECT_EQ(rig.device.calls().releases, 0U);
}

TEST(EmptyCache, ADriverThatHasGoneIsNoSickDevice) {
  CacheRig rig;
  rig.freed(rig.allocated(30_MiB));
  rig.freed(rig.allocated(20_MiB));
  rig.device.fail_releases(1, {ErrorCode::NotInitialized, 4});

  EXPECT_EQ(rig.cache().empty_cache().error().code, ErrorCode::NotInitialized);

  EXPECT_EQ(rig.reserved(), 50_MiB);
  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::Cache));
  EXPECT_EQ(rig.cache().empty_cache().value(), 50_MiB);
}

TEST(GrowthGate, GivesIdleSegmentsBackBeforeReservingFarMoreThanWasEverUsed) {
  CacheRig rig;
  rig.freed(rig.allocated(100_MiB));
  rig.freed(rig.allocated(200_MiB));
  ASSERT_EQ(rig.reserved(), 300_MiB);

  const DevicePtr block = rig.allocated(160_MiB);  // 460 MiB would pass 200 + 128

  EXPECT_EQ(rig.reserved(), 260_MiB) << "the largest went back";
  rig.freed(block);
}

TEST(GrowthGate, CountsWhatIsAskedForAmongWhatIsUsed) {
  CacheRig rig;
  rig.freed(rig.allocated(100_MiB));

  const DevicePtr block = rig.allocated(300_MiB);  // 400 MiB are no more than 300 + 128

  EXPECT_EQ(rig.reserved(), 400_MiB);
  rig.freed(block);
}

TEST(GrowthGate, AllowsAnEighthMoreThanWasEverUsed) {
  CacheRig rig;
  const DevicePtr most = rig.allocated(1600_MiB);
  rig.freed(rig.allocated(150_MiB));

  const DevicePtr within = rig.allocated(190_MiB);  // 1940 MiB: less than 1790 * 9 / 8
  EXPECT_EQ(rig.reserved(), 1940_MiB);
  rig.freed(within);
  const DevicePtr past = rig.allocated(230_MiB);  // 2170 MiB: more than 1830 * 9 / 8

  EXPECT_EQ(rig.reserved(), 1980_MiB);
  rig.freed(past);
  rig.freed(most);
}

// A step's largest buffer was given back in every layer, to be asked for again in the next.
TEST(GrowthGate, GivesBackWhatWasNotAskedForInAWhileBeforeWhatIsLarger) {
  CacheRig rig;
  rig.freed(rig.allocated(120_MiB));
  for (int i = 0; i < 4; ++i) {
    rig.freed(rig.allocated(200_MiB));
  }
  ASSERT_EQ(rig.reserved(), 320_MiB);

  const DevicePtr block = rig.allocated(100_MiB);  // 420 MiB would pass 200 + 128

  EXPECT_EQ(rig.reserved(), 300_MiB) << "the smaller one, which is five requests old";
  rig.freed(block);
}

// A native allocation doesn't wait: the stream may be waiting for this very thread.
TEST(GrowthGate, LeavesItToTheNextFreeWhereTheDeviceIsAtWork) {
  CacheRig rig;
  const DevicePtr small = rig.allocated(1_KiB);
  rig.freed(rig.allocated(100_MiB));
  rig.freed(rig.allocated(200_MiB));
  rig.device.submit_work();

  const DevicePtr block = rig.allocated(160_MiB);

  EXPECT_EQ(rig.reserved(), 462_MiB);
  EXPECT_FALSE(rig.device.is_idle());
  rig.freed(small);
  EXPECT_EQ(rig.reserved(), 262_MiB) << "the largest went back";
  rig.freed(block);
  EXPECT_EQ(rig.reserved(), 262_MiB) << "and that was all";
}

TEST(GrowthGate, LeavesItToTheNextFreeWhereNothingTellsWhetherTheDeviceIsAtWork) {
  CacheRig rig;
  rig.device.support_fences(false);
  const DevicePtr small = rig.allocated(1_KiB);
  rig.freed(rig.allocated(200_MiB));

  const DevicePtr block = rig.allocated(300_MiB);

  EXPECT_EQ(rig.reserved(), 502_MiB);
  rig.freed(small);
  EXPECT_EQ(rig.reserved(), 302_MiB);
  rig.freed(block);
}

TEST(GrowthGate, IsSilentInACapture) {
  CacheRig rig;
  rig.freed(rig.allocated(300_MiB));
  rig.device.begin_capture();

  const DevicePtr block = rig.allocated(400_MiB);

  EXPECT_EQ(rig.reserved(), 700_MiB);
  rig.device.end_capture();
  rig.freed(block);
}

TEST(GrowthGate, CanBeSwitchedOff) {
  Policy policy;
  policy.growth_gate = false;
  CacheRig rig{policy};
  rig.freed(rig.allocated(300_MiB));

  const DevicePtr block = rig.allocated(400_MiB);

  EXPECT_EQ(rig.reserved(), 700_MiB);
  rig.freed(block);
}

TEST(MaxCached, GivesTheOldestBackAtAFree) {
  Policy policy;
  policy.max_cached = 50_MiB;
  CacheRig rig{policy};
  const DevicePtr a = rig.allocated(20_MiB);
  const DevicePtr b = rig.allocated(30_MiB);
  const DevicePtr c = rig.allocated(10_MiB);
  rig.freed(a);
  rig.freed(b);
  ASSERT_EQ(rig.cached(), 50_MiB);

  rig.freed(c);

  EXPECT_EQ(rig.cached(), 40_MiB);
  EXPECT_EQ(rig.allocated(10_MiB), c);
}

TEST(MaxIdle, GivesOldSegmentsBackInTheProgramsNextFreeOrMiss) {
  CacheRig rig;
  const DevicePtr old = rig.allocated(40_MiB);
  const DevicePtr young = rig.allocated(100_MiB);
  const DevicePtr last = rig.allocated(10_MiB);
  rig.freed(old);
  TestClock::advance(6'000'000'000);
  rig.freed(young);
  TestClock::advance(4'000'000'000);

  rig.freed(last);

  EXPECT_EQ(rig.cached(), 110_MiB) << "10 s for the first, 4 s for the second";
  TestClock::advance(20'000'000'000);
  const DevicePtr miss = rig.allocated(50_MiB);
  EXPECT_EQ(rig.cached(), 10_MiB) << "not below 64 MiB: the newest stays";
  rig.freed(miss);
}

TEST(MaxIdle, LeavesItToTheNextFreeWhereTheDeviceIsAtWork) {
  CacheRig rig;
  rig.freed(rig.allocated(100_MiB));
  TestClock::advance(60'000'000'000);
  rig.device.submit_work();

  const DevicePtr miss = rig.allocated(30_MiB);

  EXPECT_EQ(rig.cached(), 100_MiB);
  EXPECT_FALSE(rig.device.is_idle());
  rig.freed(miss);
  EXPECT_EQ(rig.cached(), 30_MiB);
}

TEST(Limit, BelowWhatIsReservedIsMetByTheNextFrees) {
  CacheRig rig;
  const DevicePtr a = rig.allocated(40_MiB);
  const DevicePtr b = rig.allocated(30_MiB);
  rig.freed(rig.allocated(20_MiB));

  rig.cache().set_limit(50_MiB);
  EXPECT_EQ(rig.reserved(), 90_MiB) << "not by the command itself: it may come from another thread";
  rig.freed(a);
  EXPECT_EQ(rig.reserved(), 30_MiB) << "oldest first, until it is met";
  rig.freed(b);

  EXPECT_EQ(rig.reserved(), 30_MiB);
  EXPECT_EQ(rig.cached(), 30_MiB);
}

TEST(MaxIdle, LeavesALittleCacheAlone) {
  CacheRig rig;
  rig.freed(rig.allocated(64_MiB));
  TestClock::advance(60'000'000'000);

  const DevicePtr other = rig.allocated(30_MiB);

  EXPECT_EQ(rig.cached(), 64_MiB);
  rig.freed(other);
}

TEST(GarbageCollection, GivesTheOldestLargeSegmentsBackAboveItsShareOfTheLimit) {
  Policy policy = Policy::mtia_default();
  policy.limit = 200_MiB;
  policy.garbage_collection_threshold = 0.5;
  policy.growth_gate = false;
  CacheRig rig{policy};
  const DevicePtr old = rig.allocated(60_MiB);
  const DevicePtr young = rig.allocated(50_MiB);
  rig.freed(old);
  for (int i = 0; i < 10; ++i) {
    rig.freed(rig.allocated(50_MiB));  // from the 60 MiB block's rest or a segment of its own; the first one ages
  }
  rig.freed(young);

  const DevicePtr block = rig.allocated(70_MiB);

  EXPECT_LE(rig.reserved(), 200_MiB);
  EXPECT_EQ(rig[BasisWord::alloc_retries], 0U) << "room was made before the driver was asked";
  rig.freed(block);
}

}  // namespace
}  // namespace tidemark::test
