// Contexts that are destroyed, devices that are reset.
#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

constexpr alloc::ContextId kOther{2};

TEST(Context, ItsMemoryCountsAsFreedWhenItIsDestroyed) {
  CacheRig rig;
  const DevicePtr held = rig.allocated(4_KiB);
  const DevicePtr large = rig.allocated(10_MiB);
  rig.freed(rig.allocated(8_KiB));
  const DevicePtr elsewhere = rig.allocated(3_MiB, kOther);

  rig.cache().detach_context(kContext);
  rig.device.destroy_context(kContext);
  rig.cache().forget_detached(kContext);

  EXPECT_EQ(rig.allocated_bytes(), 4_MiB);
  EXPECT_EQ(rig.requested(), 3_MiB);
  EXPECT_EQ(rig.reserved(), 4_MiB);
  EXPECT_EQ(rig[BasisWord::small_split_blocks], 0U);
  EXPECT_EQ(rig[BasisWord::device_frees], 0U);
  EXPECT_EQ(rig[BasisWord::peak_all_reserved_bytes], (16_MiB).count()) << "peaks stay";
  EXPECT_EQ(rig.cache().release(held).error().code, ErrorCode::NotOurs);
  EXPECT_EQ(rig.cache().release(large).error().code, ErrorCode::NotOurs);
  EXPECT_EQ(rig.map->owner_of(large), nullptr);
  rig.freed(elsewhere);
}

TEST(Context, GoesOnAsBeforeIfItsDestructionFails) {
  CacheRig rig;
  const DevicePtr held = rig.allocated(4_KiB);
  const DevicePtr cached = rig.allocated(8_KiB);
  rig.freed(cached);
  rig.freed(rig.allocated(10_MiB));
  const DeviceBasis before = rig.cache().counters();

  rig.cache().detach_context(kContext);
  EXPECT_EQ(rig.cache().release(held).error().code, ErrorCode::NotOurs) << "the driver decides meanwhile";
  EXPECT_EQ(rig.cache().allocate(kContext, 4_KiB).error().code, ErrorCode::NotOurs);
  rig.cache().reattach(kContext);

  EXPECT_EQ(rig.cache().counters().words, before.words);
  rig.check();
  EXPECT_EQ(rig.allocated(8_KiB), cached);
  rig.freed(held);
  EXPECT_EQ(rig.cache().empty_cache().value(), 10_MiB);
}

TEST(Context, CachedMemoryOfAnotherIsNotGivenBackWithIt) {
  CacheRig rig{Policy::cuda_default(), 20_MiB};
  rig.freed(rig.allocated(10_MiB, kContext));
  rig.freed(rig.allocated(10_MiB, kOther));

  rig.cache().detach_context(kContext);
  const Result<Bytes> given = rig.cache().empty_cache();

  EXPECT_EQ(given.value(), 10_MiB) << "the detached one's segments are the driver's business now";
  rig.device.destroy_context(kContext);
  rig.cache().forget_detached(kContext);
  EXPECT_EQ(rig.reserved(), 0_B);
}

TEST(Context, MayGoWhileAFreeStillWaitsForItsFence) {
  //   thread A                         thread B
  //   free(p): pending, waits
  //                                    destroys the context, its books are closed
  //   the wait returns: nothing to put back
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.before_wait = [&] {
    rig.device.before_wait = nullptr;
    rig.cache().detach_context(kContext);
    rig.device.destroy_context(kContext);
    rig.cache().forget_detached(kContext);
  };

  EXPECT_TRUE(rig.cache().release(block).ok());

  EXPECT_EQ(rig.reserved(), 0_B);
  EXPECT_EQ(rig.pending(), 0_B);
  const DevicePtr next = rig.allocated(4_KiB);
  EXPECT_EQ(rig.allocated_bytes(), 4_KiB);
  rig.freed(next);
}

TEST(Context, MayBeDetachedWhileAFreeStillWaitsForItsFence) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.before_wait = [&] {
    rig.device.before_wait = nullptr;
    rig.cache().detach_context(kContext);
  };

  EXPECT_TRUE(rig.cache().release(block).ok());
  rig.cache().reattach(kContext);

  EXPECT_EQ(rig.allocated(4_KiB), block);
}

TEST(Context, TakesItsPendingFreesAndFencesAlong) {
  Policy policy;
  policy.free_mode = alloc::FreeMode::Fast;
  CacheRig rig{policy};
  rig.device.submit_work();
  rig.freed(rig.allocated(6_MiB));
  rig.freed(rig.allocated(8_MiB));  // sets a fence behind the first
  ASSERT_EQ(rig.device.calls().open_fences, 1U);

  rig.cache().detach_context(kContext);
  EXPECT_EQ(rig.device.calls().open_fences, 0U) << "dropped while the context is there";
  rig.device.destroy_context(kContext);
  rig.cache().forget_detached(kContext);

  EXPECT_EQ(rig.pending(), 0_B);
  EXPECT_EQ(rig.reserved(), 0_B);
}

TEST(Context, ItsPendingFreesNeedANewFenceAfterAFailedDestruction) {
  Policy policy;
  policy.free_mode = alloc::FreeMode::Fast;
  CacheRig rig{policy};
  const DevicePtr block = rig.allocated(6_MiB);
  rig.device.submit_work();
  rig.freed(block);
  const DevicePtr other = rig.allocated(8_MiB);

  rig.cache().detach_context(kContext);
  rig.cache().reattach(kContext);
  EXPECT_NE(rig.allocated(6_MiB), block);
  rig.device.finish_work();

  EXPECT_EQ(rig.allocated(6_MiB), block);
  rig.freed(other);
}

TEST(Context, APoisonedOneCanBeReplaced) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  rig.device.break_device();
  EXPECT_FALSE(rig.cache().release(block).ok());

  rig.cache().detach_context(kContext);
  rig.device.destroy_context(kContext);
  rig.device.heal_device();
  rig.cache().forget_detached(kContext);

  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::Cache));
  EXPECT_EQ(rig.reserved(), 0_B);
  const DevicePtr next = rig.allocated(4_KiB, kOther);
  rig.freed(next);
  EXPECT_EQ(rig.allocated(4_KiB, kOther), next);
}

TEST(Context, PassThroughMemoryGoesWithIt) {
  Policy policy;
  policy.mode = DeviceMode::Count;
  CacheRig rig{policy};
  const DevicePtr block = rig.allocated(4_KiB);

  rig.cache().detach_context(kContext);
  EXPECT_EQ(rig.cache().release(block).error().code, ErrorCode::NotOurs);
  rig.device.destroy_context(kContext);
  rig.cache().forget_detached(kContext);

  EXPECT_EQ(rig.reserved(), 0_B);
}

TEST(Context, UnknownOnesAreNobodysBusiness) {
  CacheRig rig;

  rig.cache().detach_context(kOther);
  rig.cache().reattach(kOther);
  rig.cache().forget_detached(kOther);

  rig.freed(rig.allocated(4_KiB, kOther));
}

}  // namespace
}  // namespace tidemark::test
