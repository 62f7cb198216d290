// Memory that is not to be handed out again: count mode, exported segments, the end of sub-allocation (DESIGN D8).
#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

TEST(CountMode, TurnsACacheIntoACounterOneWay) {
  CacheRig rig;
  const DevicePtr first = rig.allocated(4_KiB);
  const DevicePtr second = rig.allocated(4_KiB);
  const DevicePtr idle = rig.allocated(6_MiB);
  rig.freed(idle);

  rig.cache().set_mode(DeviceMode::Count);
  rig.cache().set_mode(DeviceMode::Cache);
  const DevicePtr native = rig.allocated(1000_B);

  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::Count));
  EXPECT_EQ(rig.device.size_at(native), 1000_B);
  EXPECT_EQ(rig.reserved(), 2_MiB + 1000_B) << "what was idle went back at the next call";
  rig.freed(first);
  EXPECT_EQ(rig.reserved(), 2_MiB + 1000_B) << "its segment still holds the second";
  rig.freed(second);
  EXPECT_EQ(rig.reserved(), 1000_B);
  rig.freed(native);
  EXPECT_EQ(rig.device.live(), 0U);
}

TEST(CountMode, LeavesIdleSegmentsAloneUntilACaptureEnds) {
  CacheRig rig;
  rig.freed(rig.allocated(6_MiB));
  rig.cache().set_mode(DeviceMode::Count);
  rig.device.begin_capture();
  const DevicePtr in_capture = rig.allocated(1000_B);
  EXPECT_EQ(rig.reserved(), 6_MiB + 1000_B);
  rig.device.end_capture();

  rig.freed(in_capture);

  EXPECT_EQ(rig.reserved(), 0_B);
}

TEST(CountMode, AFreeThatTheDriverRefusesLeavesTheBlockBooked) {
  Policy policy;
  policy.mode = DeviceMode::Count;
  CacheRig rig{policy};
  const DevicePtr block = rig.allocated(1000_B);
  rig.device.fail_releases(1);

  const Status freed = rig.cache().release(block);

  ASSERT_FALSE(freed.ok());
  EXPECT_EQ(freed.error().native, kFakeSticky);
  EXPECT_EQ(rig.allocated_bytes(), 1000_B);
  EXPECT_EQ(rig[BasisWord::device_frees], 0U);
  EXPECT_EQ(rig.both(BasisWord::small_allocations_total), 1U);
  rig.freed(block);
}

TEST(CountMode, AnAddressThatComesBackDuringTheFreeBelongsToItsNewOwner) {
  //   thread A                         thread B
  //   free(p): record leaves the books
  //   driver frees p
  //                                    driver gives p again, booked
  //   A's call returns                 must not touch B's record
  Policy policy;
  policy.mode = DeviceMode::Count;
  CacheRig rig{policy};
  const DevicePtr block = rig.allocated(1000_B);
  DevicePtr again;
  rig.device.before_release = [&] {
    rig.device.before_release = nullptr;
    rig.device.vanish(block);  // the driver is done with it ...
    again = rig.allocated(2000_B);
    rig.device.fail_releases(1);  // ... and A's call ends, whatever it says
  };

  EXPECT_FALSE(rig.cache().release(block).ok());

  ASSERT_EQ(again, block);
  EXPECT_EQ(rig.allocated_bytes(), 2000_B);
  rig.freed(again);
  EXPECT_EQ(rig.reserved(), 0_B);
}

TEST(PinnedSegment, IsReallyFreedAndNeverHandedOut) {
  CacheRig rig;
  const DevicePtr exported = rig.allocated(6_MiB);
  ASSERT_TRUE(rig.cache().pin_segment(exported).ok());
  EXPECT_TRUE(rig.cache().find(exported)->pinned);

  rig.freed(exported);

  EXPECT_EQ(rig.reserved(), 0_B);
  EXPECT_EQ(rig.device.calls().releases, 1U);
}

TEST(PinnedSegment, KeepsItsOtherBlocksFromBeingHandedOut) {
  CacheRig rig;
  const DevicePtr held = rig.allocated(4_KiB);
  const DevicePtr freed_before = rig.allocated(8_KiB);
  rig.freed(freed_before);
  ASSERT_TRUE(rig.cache().pin_segment(held).ok());
  EXPECT_EQ(rig[BasisWord::pinned_bytes], (2_MiB - 4_KiB).count());

  const DevicePtr elsewhere = rig.allocated(8_KiB);

  EXPECT_EQ(rig.reserved(), 4_MiB);
  rig.freed(held);
  EXPECT_EQ(rig[BasisWord::pinned_bytes], 0U);
  EXPECT_EQ(rig.reserved(), 2_MiB);
  rig.freed(elsewhere);
}

TEST(PinnedSegment, WaitsForTheEndOfACaptureToBeFreed) {
  CacheRig rig;
  const DevicePtr exported = rig.allocated(6_MiB);
  ASSERT_TRUE(rig.cache().pin_segment(exported).ok());
  rig.device.begin_capture();
  rig.freed(exported);
  rig.device.end_capture();

  const DevicePtr other = rig.allocated(6_MiB);
  rig.freed(other);

  EXPECT_EQ(rig.reserved(), 6_MiB);
  EXPECT_EQ(rig.device.calls().releases, 1U);
}

TEST(SubAllocation, CanEndWhileLargeBlocksAreStillCached) {
  CacheRig rig;
  const DevicePtr shared = rig.allocated(4_KiB);
  rig.cache().stop_sub_allocating();

  const DevicePtr own = rig.allocated(4_KiB);
  rig.freed(rig.allocated(6_MiB));
  const DevicePtr large = rig.allocated(6_MiB);

  EXPECT_EQ(rig.device.size_at(own), 4_KiB);
  EXPECT_TRUE(rig.cache().find(own)->whole_segment);
  EXPECT_EQ(rig.hits(), 1U);
  rig.freed(shared);
  rig.freed(own);
  rig.freed(large);
}

}  // namespace
}  // namespace tidemark::test
