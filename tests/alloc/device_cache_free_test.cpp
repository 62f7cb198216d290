// When a freed block may be handed out again (DESIGN D5), and what happens when the fence fails or may not be asked
// for.
#include <functional>
#include <vector>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

Policy fast() {
  Policy policy;
  policy.free_mode = alloc::FreeMode::Fast;
  return policy;
}

TEST(StrictFree, ReturnsWhenTheDeviceIsDone) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.submit_work();

  rig.freed(block);

  EXPECT_TRUE(rig.device.is_idle());
  EXPECT_EQ(rig.device.calls().waits, 1U);
}

TEST(StrictFree, IsPendingWhileItWaits) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.before_wait = [&] {
    rig.cache().publish_all();
    EXPECT_EQ(rig.allocated_bytes(), 0_B);
    EXPECT_EQ(rig.pending(), 4_KiB);
    EXPECT_EQ(rig.requested(), 4_KiB);
    EXPECT_NE(rig.allocated(4_KiB), block) << "not before its fence is done";
    EXPECT_EQ(rig.cache().release(block).error().code, ErrorCode::InvalidValue) << "a double free";
    rig.device.before_wait = nullptr;
  };

  rig.freed(block);

  EXPECT_EQ(rig.pending(), 0_B);
}

TEST(StrictFree, CountsTheTimeItWaited) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.before_wait = [] { TestClock::advance(1234); };

  rig.freed(block);

  EXPECT_EQ(rig[BasisWord::free_wait_ns], 1234U);
}

TEST(StrictFree, GivesTheProgramTheDevicesErrorAndCachesNothing) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  const DevicePtr other = rig.allocated(4_KiB);
  rig.device.break_device();

  const Status freed = rig.cache().release(block);

  ASSERT_FALSE(freed.ok());
  EXPECT_EQ(freed.error().native, kFakeSticky);
  EXPECT_EQ(rig.pending(), 4_KiB);
  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::PassThrough));
  EXPECT_EQ(rig.cache().release(other).error().native, kFakeSticky);
  const DevicePtr fresh = rig.allocated(1000_B);
  EXPECT_EQ(rig.device.size_at(fresh), 1000_B) << "from here on the driver serves this context";
  rig.check();
}

TEST(StrictFree, APoisonedContextLeavesOthersAlone) {
  CacheRig rig;
  const alloc::ContextId other{2};
  const DevicePtr bad = rig.allocated(4_KiB);
  const DevicePtr good = rig.allocated(4_KiB, other);
  rig.device.break_device();
  EXPECT_FALSE(rig.cache().release(bad).ok());
  rig.device.heal_device();

  rig.freed(good);

  EXPECT_EQ(rig.allocated(4_KiB, other), good);
}

TEST(Capture, MakesNoHelperCallAndReusesNothingFreedMeanwhile) {
  CacheRig rig;
  const DevicePtr cached = rig.allocated(4_KiB);
  const DevicePtr held = rig.allocated(4_KiB);
  rig.freed(cached);
  rig.device.submit_work();
  rig.device.begin_capture();

  rig.freed(held);
  const DevicePtr hit = rig.allocated(4_KiB);
  const DevicePtr miss = rig.allocated(5_MiB);

  EXPECT_EQ(hit, cached) << "its fence is known to be done";
  EXPECT_EQ(rig.device.size_at(miss), 5_MiB)
      << "as the program asked, so that the capture sees what it would have seen";
  EXPECT_EQ(rig.pending(), 4_KiB);
  EXPECT_FALSE(rig.device.is_idle());
  rig.device.end_capture();
  rig.freed(miss);
}

TEST(Capture, TheNextWaitLetsPassWhatWasFreedInIt) {
  CacheRig rig;
  const DevicePtr first = rig.allocated(4_KiB);
  const DevicePtr second = rig.allocated(4_KiB);
  rig.device.begin_capture();
  rig.freed(first);
  rig.device.end_capture();
  ASSERT_EQ(rig.pending(), 4_KiB);

  rig.freed(second);

  EXPECT_EQ(rig.pending(), 0_B);
  EXPECT_EQ(rig.device.calls().waits, 1U);
}

TEST(Capture, AMissAfterItAsksWithoutAWaitWhatWasFreedInIt) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(6_MiB);
  rig.device.begin_capture();
  rig.freed(block);
  rig.device.submit_work();
  rig.device.end_capture();

  EXPECT_NE(rig.allocated(6_MiB), block);
  EXPECT_FALSE(rig.device.is_idle());
  rig.device.finish_work();
  EXPECT_EQ(rig.allocated(6_MiB), block);

  EXPECT_EQ(rig.device.calls().waits, 0U);
  EXPECT_EQ(rig.device.calls().open_fences, 0U);
}

TEST(Capture, WithoutFencesWhatWasFreedInItWaitsForTheNextFree) {
  CacheRig rig;
  rig.device.support_fences(false);
  const DevicePtr block = rig.allocated(6_MiB);
  rig.device.begin_capture();
  rig.freed(block);
  rig.device.end_capture();

  const DevicePtr other = rig.allocated(6_MiB);
  EXPECT_EQ(rig.device.calls().waits, 0U);
  rig.freed(other);

  EXPECT_EQ(rig.pending(), 0_B);
  EXPECT_EQ(rig.cached(), 12_MiB);
}

TEST(StrictFree, DropsTheFencesThatItsWaitMadeNeedless) {
  CacheRig rig;
  const DevicePtr first = rig.allocated(6_MiB);
  const DevicePtr second = rig.allocated(6_MiB);
  rig.device.begin_capture();
  rig.freed(first);
  rig.device.end_capture();
  rig.device.submit_work();
  const DevicePtr miss = rig.allocated(6_MiB);
  ASSERT_EQ(rig.device.calls().open_fences, 1U);

  rig.freed(second);

  EXPECT_EQ(rig.device.calls().open_fences, 0U);
  rig.freed(miss);
}

// The program called it in a host function of a stream, where the driver takes no call.
TEST(StrictFree, LeavesTheBlockWithTheProgramWhereTheDriverTakesNoCall) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.refuse_calls(true);

  const Status refused = rig.cache().release(block);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().native, kFakeNotPermitted);
  EXPECT_EQ(rig.allocated_bytes(), 4_KiB);
  EXPECT_EQ(rig.pending(), 0_B);
  rig.device.refuse_calls(false);
  EXPECT_NE(rig.allocated(4_KiB), block);
  rig.freed(block);
  EXPECT_EQ(rig.allocated(4_KiB), block) << "and the context still caches";
}

TEST(FastFree, IsAcceptedWhereTheDriverTakesNoCallAndPoisonsNothing) {
  Policy policy;
  policy.free_mode = alloc::FreeMode::Fast;
  CacheRig rig{policy};
  const DevicePtr block = rig.allocated(40_MiB);  // more than a batch: a fence is worth its call
  rig.device.refuse_calls(true);
  rig.freed(block);
  rig.device.refuse_calls(false);

  EXPECT_EQ(rig.allocated(40_MiB), block);
}

TEST(Capture, AFailureInItIsTheDriversOwnWithoutARetry) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  const DevicePtr idle = rig.allocated(10_MiB);
  rig.freed(idle);
  rig.device.begin_capture();

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, 8_MiB);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().native, kFakeOutOfMemory);
  EXPECT_EQ(rig.device.calls().refused_allocations, 1U);
  EXPECT_EQ(rig[BasisWord::alloc_retries], 0U);
  EXPECT_EQ(rig[BasisWord::ooms], 1U);
  rig.device.end_capture();
}

TEST(Capture, OneThatBeginsDuringAMissEndsItsRetries) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  rig.freed(rig.allocated(10_MiB));
  rig.device.before_allocate = [&] {
    rig.device.before_allocate = nullptr;
    rig.device.begin_capture();
  };

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, 12_MiB);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().native, kFakeOutOfMemory);
  EXPECT_EQ(rig.reserved(), 10_MiB);
  rig.device.end_capture();
}

TEST(StrictFree, AtExitGetsTheDriversAnswerAndChangesNothingElse) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.break_device({ErrorCode::NotInitialized, 4});

  EXPECT_EQ(rig.cache().release(block).error().native, 4);

  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::Cache));
  EXPECT_EQ(rig.pending(), 4_KiB);
}

TEST(Capture, OneThatBeginsDuringTheCallIsAsGood) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.before_wait = [&] {
    rig.device.before_wait = nullptr;
    rig.device.begin_capture();
    rig.helper_calls_that_met_a_capture = 1;
  };

  EXPECT_TRUE(rig.cache().release(block).ok());

  EXPECT_EQ(rig.pending(), 4_KiB);
  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::Cache));
  rig.device.end_capture();
  EXPECT_EQ(rig.allocated(4_KiB).address(), block.address() + 4096);
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
