// Out of memory, limits, and memory on its way back to the driver.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

struct SeenOutOfMemory final : alloc::OutOfMemoryObserver {
  void out_of_memory(const alloc::OutOfMemoryRecord& record) noexcept override {
    last = record;
    ++count;
  }
  alloc::OutOfMemoryRecord last;
  int count = 0;
};

TEST(OutOfMemory, GivesCachedMemoryBackBeforeReporting) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  rig.freed(rig.allocated(10_MiB));

  const DevicePtr block = rig.allocated(12_MiB);

  EXPECT_EQ(rig.reserved(), 12_MiB);
  EXPECT_EQ(rig[BasisWord::alloc_retries], 1U);
  EXPECT_EQ(rig[BasisWord::sync_all_streams], 1U);
  EXPECT_EQ(rig[BasisWord::ooms], 0U);
  EXPECT_EQ(rig[BasisWord::device_frees], 1U);
  rig.freed(block);
}

TEST(OutOfMemory, ASmallRequestDoesNotFailForWantOfAWholeSegment) {
  CacheRig rig{Policy::cuda_default(), 3_MiB};
  const DevicePtr large = rig.allocated(2_MiB);

  const DevicePtr small = rig.allocated(512_KiB);

  EXPECT_EQ(rig.device.size_at(small), 512_KiB);
  EXPECT_EQ(rig[BasisWord::passed_through], 1U);
  EXPECT_EQ(rig[BasisWord::misses], 1U);
  EXPECT_EQ(rig.reserved(), 2_MiB + 512_KiB);
  rig.freed(small);
  EXPECT_EQ(rig.reserved(), 2_MiB);
  rig.freed(large);
}

TEST(OutOfMemory, IsTheDriversCodeAndLeavesARecord) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  SeenOutOfMemory observer;
  rig.cache().set_out_of_memory_observer(&observer);
  const DevicePtr held = rig.allocated(10_MiB);
  const DevicePtr small = rig.allocated(100_KiB);

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, 9_MiB);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
  EXPECT_EQ(refused.error().native, kFakeOutOfMemory);
  EXPECT_EQ(rig[BasisWord::ooms], 1U);
  EXPECT_EQ(rig[BasisWord::oom_count_lifetime], 1U);
  EXPECT_EQ(rig[BasisWord::oom_requested_bytes], (9_MiB).count());
  EXPECT_EQ(rig[BasisWord::oom_allocated_bytes], (10_MiB + 100_KiB).count());
  EXPECT_EQ(rig[BasisWord::oom_reserved_bytes], (12_MiB).count());
  EXPECT_EQ(rig[BasisWord::oom_device_free_bytes], (4_MiB).count());
  EXPECT_EQ(rig[BasisWord::oom_device_total_bytes], (16_MiB).count());
  EXPECT_EQ(rig[BasisWord::oom_largest_free_block_bytes], (2_MiB - 100_KiB).count());
  EXPECT_EQ(rig[BasisWord::oom_time_ns], TestClock::kEpoch + TestClock::now());
  EXPECT_EQ(observer.count, 1);
  EXPECT_EQ(observer.last.requested, 9_MiB);
  rig.freed(held);
  rig.freed(small);
}

TEST(OutOfMemory, AnotherErrorOfTheDriverIsReturnedAtOnce) {
  CacheRig rig;
  rig.device.fail_allocations(1, {ErrorCode::DriverFailure, kFakeSticky});

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, 9_MiB);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().native, kFakeSticky);
  EXPECT_EQ(rig.both(BasisWord::small_allocations_total), 0U);
  EXPECT_EQ(rig[BasisWord::ooms], 0U);
}

TEST(OutOfMemory, SearchesAgainForWhatAnotherThreadFreedMeanwhile) {
  //   thread A                     thread B
  //   misses, the driver is full
  //                                frees a block that fits
  //   finds it in the cache
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  const DevicePtr held = rig.allocated(16_MiB);
  rig.device.before_allocate = [&] {
    rig.device.before_allocate = nullptr;
    std::thread([&] { rig.freed(held); }).join();
  };

  const DevicePtr found = rig.allocated(15_MiB);

  EXPECT_EQ(rig[BasisWord::ooms], 0U);
  rig.freed(found);
}

TEST(OutOfMemory, WaitsForSegmentsThatAnotherThreadIsJustGivingBack) {
  //   thread A                          thread B
  //                                     empties the cache: the record is out, the driver not yet called
  //   misses, the driver is full,
  //   nothing is cached: waits for B
  //                                     the driver frees
  //   retries and succeeds
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  rig.freed(rig.allocated(16_MiB));
  std::atomic<bool> leaving{false};
  rig.device.before_release = [&] {
    leaving = true;
    while (rig.device.calls().refused_allocations == 0) {
      std::this_thread::yield();
    }
    // Time enough for an allocator that doesn't wait to come here again and give up.
    for (int i = 0; i < 2000; ++i) {
      std::this_thread::yield();
    }
  };
  std::thread emptier([&] { EXPECT_TRUE(rig.cache().empty_cache().ok()); });
  while (!leaving) {
    std::this_thread::yield();
  }

  const DevicePtr block = rig.allocated(14_MiB);

  emptier.join();
  EXPECT_EQ(rig[BasisWord::ooms], 0U);
  rig.freed(block);
}

TEST(OutOfMemory, GivesOversizeBlocksBackFirst) {
  Policy policy = Policy::mtia_default();
  policy.max_split_size = 64_MiB;
  CacheRig rig{policy, 200_MiB};
  rig.freed(rig.allocated(70_MiB));
  rig.freed(rig.allocated(100_MiB));  // both cached; neither serves 130 MiB
  const DevicePtr small = rig.allocated(1_KiB);

  const DevicePtr block = rig.allocated(110_MiB);

  EXPECT_EQ(rig[BasisWord::alloc_retries], 0U) << "the largest alone was enough";
  EXPECT_EQ(rig[BasisWord::device_frees], 2U);
  rig.freed(block);
  rig.freed(small);
}

TEST(Limit, HoldsBackWhatWouldPassIt) {
  Policy policy;
  policy.limit = 10_MiB;
  CacheRig rig{policy};
  const DevicePtr first = rig.allocated(6_MiB);

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, 5_MiB);
  const DevicePtr second = rig.allocated(4_MiB);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
  EXPECT_EQ(rig.device.calls().refused_allocations, 0U) << "the driver is not asked";
  EXPECT_EQ(rig.reserved(), 10_MiB);
  EXPECT_EQ(rig[BasisWord::limit_bytes], (10_MiB).count());
  rig.freed(first);
  rig.freed(second);
}

TEST(Limit, CountsTheExactSizeWhereASegmentWouldNotFit) {
  Policy policy;
  policy.limit = 3_MiB;
  CacheRig rig{policy};
  const DevicePtr large = rig.allocated(2_MiB);

  const DevicePtr small = rig.allocated(1_MiB);

  EXPECT_EQ(rig.reserved(), 3_MiB);
  EXPECT_EQ(rig[BasisWord::passed_through], 1U);
  rig.freed(large);
  rig.freed(small);
}

TEST(Limit, IsMetByCachedMemory) {
  Policy policy;
  policy.limit = 10_MiB;
  CacheRig rig{policy};
  rig.freed(rig.allocated(10_MiB));

  const DevicePtr block = rig.allocated(4_MiB);

  EXPECT_EQ(rig.reserved(), 4_MiB);
  rig.freed(block);
}

TEST(Limit, SeesWhatOtherThreadsAreJustAskingFor) {
  Policy policy;
  policy.limit = 10_MiB;
  CacheRig rig{policy};
  rig.device.before_allocate = [&] {
    rig.device.before_allocate = nullptr;
    EXPECT_FALSE(rig.cache().allocate(kContext, 6_MiB).ok()) << "6 MiB are on their way already";
  };

  const DevicePtr block = rig.allocated(6_MiB);

  rig.freed(block);
}

TEST(Limit, CanBeSetAndTakenBackWhileMemoryIsHeld) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(20_MiB);

  rig.cache().set_limit(10_MiB);
  EXPECT_FALSE(rig.cache().allocate(kContext, 1_KiB).ok());
  rig.cache().set_limit(std::nullopt);
  const DevicePtr small = rig.allocated(1_KiB);

  EXPECT_EQ(rig[BasisWord::limit_bytes], 0U);
  rig.freed(block);
  rig.freed(small);
}

TEST(MemoryInfo, CountsCachedMemoryAsFree) {
  CacheRig rig{Policy::cuda_default(), 100_MiB};
  const DevicePtr held = rig.allocated(20_MiB);
  rig.freed(rig.allocated(30_MiB));

  const Result<alloc::MemoryInfo> info = rig.cache().memory_info(kContext);

  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info.value().free, 80_MiB);
  EXPECT_EQ(info.value().total, 100_MiB);
  EXPECT_EQ(rig[BasisWord::driver_free_bytes], (50_MiB).count());
  EXPECT_EQ(rig[BasisWord::driver_total_bytes], (100_MiB).count());
  EXPECT_EQ(rig[BasisWord::driver_info_time_ns], TestClock::kEpoch + TestClock::now());
  rig.freed(held);
}

TEST(MemoryInfo, AgreesWithTheLimit) {
  Policy policy;
  policy.limit = 40_MiB;
  CacheRig rig{policy, 100_MiB};
  const DevicePtr held = rig.allocated(10_MiB);
  rig.freed(rig.allocated(20_MiB));

  const Result<alloc::MemoryInfo> info = rig.cache().memory_info(kContext);

  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info.value().total, 40_MiB);
  EXPECT_EQ(info.value().free, 30_MiB);
  EXPECT_TRUE(rig.cache().allocate(kContext, info.value().free).ok()) << "what is said to be free can be had";
  rig.freed(held);
}

TEST(MemoryInfo, NeverSaysMoreIsFreeThanThereIs) {
  CacheRig rig{Policy::cuda_default(), 100_MiB};
  rig.freed(rig.allocated(30_MiB));
  rig.cache().set_limit(20_MiB);

  const Result<alloc::MemoryInfo> info = rig.cache().memory_info(kContext);

  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info.value().total, 20_MiB);
  EXPECT_EQ(info.value().free, 20_MiB);
}

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

  const DevicePtr block = rig.allocated(160_MiB);  // 460 MiB would pass 200 + 256

  EXPECT_EQ(rig.reserved(), 260_MiB) << "the largest went back";
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
