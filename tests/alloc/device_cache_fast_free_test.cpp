// Frees that return at once: when their blocks come back.
#include <vector>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

Policy fast() {
  Policy policy;
  policy.free_mode = alloc::FreeMode::Fast;
  return policy;
}

TEST(FastFree, DoesNotWait) {
  CacheRig rig{fast()};
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.submit_work();

  rig.freed(block);

  EXPECT_FALSE(rig.device.is_idle());
  EXPECT_EQ(rig.device.calls().waits, 0U);
  EXPECT_EQ(rig.device.calls().fences, 0U) << "one a batch, not one a free";
  EXPECT_EQ(rig.pending(), 4_KiB);
}

TEST(FastFree, DoesNotReuseBeforeTheFenceIsDone) {
  CacheRig rig{fast()};
  const DevicePtr block = rig.allocated(6_MiB);
  rig.device.submit_work();
  rig.freed(block);

  const DevicePtr early = rig.allocated(6_MiB);
  rig.device.finish_work();
  const DevicePtr late = rig.allocated(6_MiB);

  EXPECT_NE(early, block);
  EXPECT_EQ(late, block);
  EXPECT_EQ(rig.device.calls().waits, 0U);
  EXPECT_EQ(rig.device.calls().open_fences, 0U);
}

TEST(FastFree, AFenceDoesNotCoverWhatIsFreedAfterIt) {
  CacheRig rig{fast()};
  const DevicePtr before = rig.allocated(6_MiB);
  const DevicePtr after = rig.allocated(8_MiB);
  rig.freed(before);
  rig.device.submit_work();
  const DevicePtr third = rig.allocated(20_MiB);  // sets a fence behind the first free, which is not done
  rig.device.finish_work();
  rig.device.submit_work();
  rig.freed(after);

  EXPECT_EQ(rig.allocated(6_MiB), before);
  EXPECT_NE(rig.allocated(8_MiB), after);
  rig.freed(third);
}

TEST(FastFree, RecordsOneFenceForABatch) {
  CacheRig rig{fast()};
  std::vector<DevicePtr> blocks;
  for (unsigned i = 0; i < 2 * alloc::ReuseGate::kBatchBlocks; ++i) {
    blocks.push_back(rig.allocated(4_KiB));
  }

  for (const DevicePtr block : blocks) {
    rig.freed(block);
  }

  EXPECT_EQ(rig.device.calls().fences, 2U);
}

// Hits alone never looked: what was pending grew until all that was cached had been cut up.
TEST(FastFree, ReclaimsFinishedBatchesWithoutAMiss) {
  CacheRig rig{fast()};
  std::vector<DevicePtr> blocks;
  for (unsigned i = 0; i < 3 * alloc::ReuseGate::kBatchBlocks; ++i) {
    blocks.push_back(rig.allocated(4_KiB));
  }
  const auto free_batch = [&] {
    for (unsigned i = 0; i < alloc::ReuseGate::kBatchBlocks; ++i) {
      rig.freed(blocks.back());
      blocks.pop_back();
    }
  };
  const Bytes batch{alloc::ReuseGate::kBatchBlocks * (4_KiB).count()};
  rig.device.submit_work();

  free_batch();
  EXPECT_EQ(rig.pending(), batch) << "its fence is not done";
  rig.device.finish_work();
  rig.device.submit_work();
  free_batch();

  EXPECT_EQ(rig.pending(), batch) << "the first has passed, the second waits";
  rig.device.finish_work();
  free_batch();
  EXPECT_EQ(rig.pending(), 0_B);
  EXPECT_EQ(rig.device.calls().waits, 0U);
}

TEST(FastFree, WaitsOnceWhereTheBackendHasNoFence) {
  CacheRig rig{fast()};
  rig.device.support_fences(false);
  const DevicePtr first = rig.allocated(6_MiB);
  const DevicePtr second = rig.allocated(6_MiB);
  rig.device.submit_work();
  rig.freed(first);
  rig.freed(second);
  ASSERT_EQ(rig.device.calls().waits, 0U);

  const DevicePtr a = rig.allocated(6_MiB);
  const DevicePtr b = rig.allocated(6_MiB);

  EXPECT_TRUE(rig.device.is_idle());
  EXPECT_EQ(rig.device.calls().waits, 1U);
  EXPECT_EQ(rig.device.calls().allocations, 2U);
  EXPECT_TRUE((a == first && b == second) || (a == second && b == first));
}

TEST(FastFree, FindsTheDevicesErrorAtTheNextMiss) {
  CacheRig rig{fast()};
  const DevicePtr block = rig.allocated(6_MiB);
  rig.freed(block);
  rig.device.break_device();

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, 6_MiB);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().native, kFakeSticky);
  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::PassThrough));
  EXPECT_EQ(rig.device.size_at(rig.allocated(1000_B)), 1000_B);
}

TEST(FastFree, EmptyingTheCacheWaitsForWhatIsPending) {
  CacheRig rig{fast()};
  const DevicePtr block = rig.allocated(6_MiB);
  rig.device.submit_work();
  rig.freed(block);

  const Result<Bytes> given = rig.cache().empty_cache();

  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given.value(), 6_MiB);
  EXPECT_TRUE(rig.device.is_idle());
  EXPECT_EQ(rig.reserved(), 0_B);
}

TEST(FastFree, ReclaimsPendingMemoryBeforeReportingOutOfMemory) {
  CacheRig rig{fast(), 16_MiB};
  const DevicePtr block = rig.allocated(10_MiB);
  rig.device.submit_work();
  rig.freed(block);

  const DevicePtr next = rig.allocated(12_MiB);

  EXPECT_EQ(rig.reserved(), 12_MiB);
  EXPECT_EQ(rig[BasisWord::ooms], 0U);
  rig.freed(next);
}

}  // namespace
}  // namespace tidemark::test
