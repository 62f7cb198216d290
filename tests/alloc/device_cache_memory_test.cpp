// Out of memory, limits, and what is said to be free.
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
  EXPECT_EQ(rig[BasisWord::limit_rejections_lifetime], 0U) << "the device had no more";
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
  policy.growth_gate = false;
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
  EXPECT_EQ(rig[BasisWord::oom_count_lifetime], 1U);
  EXPECT_EQ(rig[BasisWord::limit_rejections_lifetime], 1U);
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

}  // namespace
}  // namespace tidemark::test
