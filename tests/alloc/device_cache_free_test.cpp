// When a freed block may be handed out again (DESIGN D5), and what happens when the fence fails or may not be asked
// for.
#include <functional>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

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

TEST(Capture, WithNothingHeldAFailureInItIsTheDriversOwnAtOnce) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  const DevicePtr held = rig.allocated(10_MiB);
  rig.device.begin_capture();

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, 8_MiB);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().native, kFakeOutOfMemory);
  EXPECT_EQ(rig.device.calls().refused_allocations, 1U);
  EXPECT_EQ(rig[BasisWord::alloc_retries], 0U);
  EXPECT_EQ(rig[BasisWord::ooms], 1U);
  rig.device.end_capture();
  rig.freed(held);
}

// Another thread's capture is enough for every allocation to come this way: what succeeds natively has to succeed.
TEST(Capture, WhatIsIdleGoesBackInItBeforeAnAllocationFails) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  rig.freed(rig.allocated(10_MiB));
  rig.device.begin_capture();

  const DevicePtr block = rig.allocated(8_MiB);

  EXPECT_EQ(rig.device.size_at(block), 8_MiB);
  EXPECT_EQ(rig[BasisWord::alloc_retries], 1U);
  EXPECT_EQ(rig[BasisWord::ooms], 0U);
  rig.device.end_capture();
}

TEST(Capture, WhatWasFreedInItGoesBackUnprovedSinceTheDriversFreeWaits) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  const DevicePtr small = rig.allocated(4_KiB);
  const DevicePtr neighbour = rig.allocated(4_KiB);
  const DevicePtr large = rig.allocated(10_MiB);
  rig.device.begin_capture();
  rig.freed(neighbour);
  rig.freed(large);
  rig.freed(small);
  rig.device.submit_work();

  const DevicePtr block = rig.allocated(15_MiB);

  EXPECT_EQ(rig.device.size_at(block), 15_MiB);
  EXPECT_EQ(rig.pending(), 0_B);
  EXPECT_TRUE(rig.device.is_idle());
  EXPECT_EQ(rig.device.calls().waits, 0U);
  rig.device.end_capture();
}

TEST(Capture, ASegmentWithALiveBlockStaysWhateverElseIsInIt) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  const DevicePtr freed = rig.allocated(4_KiB);
  const DevicePtr live = rig.allocated(4_KiB);
  rig.device.begin_capture();
  rig.freed(freed);

  EXPECT_FALSE(rig.cache().allocate(kContext, 15_MiB).ok());

  EXPECT_EQ(rig.pending(), 4_KiB);
  EXPECT_EQ(rig.reserved(), 2_MiB);
  rig.device.end_capture();
  rig.freed(live);
  EXPECT_EQ(rig.cached(), 2_MiB);
}

// Its work was never waited for, so nobody may have it again.
TEST(Capture, WhatTheDriverRefusesToTakeBackUnprovedIsNeverHandedOut) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  const DevicePtr block = rig.allocated(10_MiB);
  rig.device.begin_capture();
  rig.freed(block);
  rig.device.fail_releases(1, {ErrorCode::Busy, 0});

  EXPECT_FALSE(rig.cache().allocate(kContext, 8_MiB).ok());

  EXPECT_EQ(rig.reserved(), 10_MiB);
  EXPECT_EQ(Bytes{rig[BasisWord::pinned_bytes]}, 10_MiB);
  rig.device.end_capture();
  EXPECT_EQ(rig.device.size_at(rig.allocated(10_MiB)), 10_MiB);
  EXPECT_EQ(rig.reserved(), 10_MiB) << "it has gone back first";
}

TEST(Capture, OneThatBeginsDuringAMissDoesNotEndItsRetries) {
  CacheRig rig{Policy::cuda_default(), 16_MiB};
  rig.freed(rig.allocated(10_MiB));
  rig.device.before_allocate = [&] {
    rig.device.before_allocate = nullptr;
    rig.device.begin_capture();
  };

  EXPECT_EQ(rig.device.size_at(rig.allocated(12_MiB)), 12_MiB);

  rig.device.end_capture();
}

TEST(Capture, RoomForAnotherFamilyIsMadeInItToo) {
  CacheRig rig;
  rig.freed(rig.allocated(10_MiB));
  const DevicePtr waiting = rig.allocated(6_MiB);
  rig.device.begin_capture();
  rig.freed(waiting);

  EXPECT_TRUE(rig.cache().make_room());

  EXPECT_EQ(rig.reserved(), 0_B);
  EXPECT_FALSE(rig.cache().make_room());
  EXPECT_EQ(rig.cache().empty_cache().error().code, ErrorCode::Busy) << "which nobody needs now";
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

}  // namespace
}  // namespace tidemark::test
