// What blocks contain: zeros when they are handed out, poison once nobody uses them any more.
#include <atomic>
#include <thread>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

Policy filling(alloc::Fill fill, alloc::FreeMode free_mode = alloc::FreeMode::Strict) {
  Policy policy;
  policy.fill = fill;
  policy.free_mode = free_mode;
  return policy;
}

DevicePtr behind(DevicePtr ptr, Bytes offset) { return DevicePtr{ptr.address() + offset.count()}; }

TEST(Fill, IsNobodysBusinessByDefault) {
  CacheRig rig;

  rig.freed(rig.allocated(1000_B));
  rig.freed(rig.allocated(1000_B));

  EXPECT_EQ(rig.device.calls().fills, 0U);
}

TEST(ZeroFill, FillsTheWholeBlockWhereverItComesFrom) {
  CacheRig rig{filling(alloc::Fill::Zero)};

  const DevicePtr miss = rig.allocated(1000_B);
  EXPECT_EQ(rig.device.byte_at(miss), 0);
  EXPECT_EQ(rig.device.byte_at(behind(miss, 1023_B)), 0);
  EXPECT_EQ(rig.device.byte_at(behind(miss, 1024_B)), std::nullopt) << "the rest is not handed out";
  rig.freed(miss);
  ASSERT_TRUE(rig.device.fill(kContext, miss, 1_KiB, 7).ok());  // what the program left in it
  const DevicePtr hit = rig.allocated(600_B);

  ASSERT_EQ(hit, miss);
  EXPECT_EQ(rig.hits(), 1U);
  EXPECT_EQ(rig.device.byte_at(behind(hit, 1023_B)), 0);
}

TEST(ZeroFill, FillsWhatIsPassedThroughToo) {
  Policy policy = filling(alloc::Fill::Zero);
  policy.mode = DeviceMode::Count;
  CacheRig rig{policy};

  const DevicePtr block = rig.allocated(1000_B);

  EXPECT_EQ(rig.device.byte_at(behind(block, 999_B)), 0);
  const Result<DevicePtr> native = rig.device.allocate(kContext, 5000_B);
  ASSERT_TRUE(rig.cache().adopt_pass_through(kContext, native.value(), 5000_B));
  EXPECT_EQ(rig.device.byte_at(behind(native.value(), 4999_B)), 0);
  rig.freed(block);
  rig.freed(native.value());
}

TEST(ZeroFill, IsCompleteBeforeTheProgramHearsOfTheBlockAndAfterItLeftTheFreeOnes) {
  CacheRig rig{filling(alloc::Fill::Zero)};
  rig.freed(rig.allocated(1000_B));
  DevicePtr other;
  rig.device.before_fill = [&] {
    rig.device.before_fill = nullptr;
    other = rig.allocated(1000_B);
  };

  const DevicePtr block = rig.allocated(1000_B);

  EXPECT_NE(block, other);
  EXPECT_EQ(rig.device.byte_at(block), 0);
}

TEST(ZeroFill, StaysAwayFromACapture) {
  CacheRig rig{filling(alloc::Fill::Zero)};
  rig.freed(rig.allocated(1000_B));
  const unsigned before = rig.device.calls().fills;

  rig.device.begin_capture();
  const DevicePtr block = rig.allocated(1000_B);
  rig.device.end_capture();

  EXPECT_EQ(rig.hits(), 1U) << "the program gets its block";
  EXPECT_EQ(rig.device.calls().fills, before);
  rig.freed(block);
}

TEST(ZeroFill, ThatFailsCostsTheContextItsCacheAndTheProgramNothing) {
  CacheRig rig{filling(alloc::Fill::Zero)};
  rig.device.break_device();

  const DevicePtr block = rig.allocated(1000_B);

  EXPECT_NE(block, DevicePtr{});
  EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::PassThrough));
}

TEST(PoisonFill, ComesAfterTheWaitAndBeforeTheBlockIsFree) {
  CacheRig rig{filling(alloc::Fill::Poison)};
  const DevicePtr block = rig.allocated(1000_B);
  DevicePtr other;
  rig.device.before_fill = [&] {
    EXPECT_TRUE(rig.device.is_idle()) << "work may still use the block";
    EXPECT_FALSE(rig.cache().find(block)->live);
    other = rig.allocated(1000_B);
  };
  rig.device.submit_work();

  rig.freed(block);

  EXPECT_NE(other, DevicePtr{});
  EXPECT_NE(other, block) << "not free yet";
  EXPECT_EQ(rig.pending(), 0_B);
  EXPECT_EQ(rig.device.byte_at(block), alloc::kPoison);
  EXPECT_EQ(rig.device.byte_at(behind(block, 1023_B)), alloc::kPoison);
  EXPECT_EQ(rig.device.byte_at(other), std::nullopt) << "the neighbour's";
}

TEST(PoisonFill, IsNotOverwrittenWhenTheBlockIsHandedOut) {
  CacheRig rig{filling(alloc::Fill::Poison)};
  const DevicePtr block = rig.allocated(1000_B);
  EXPECT_EQ(rig.device.calls().fills, 0U) << "memory from the driver is as it is";
  rig.freed(block);

  const DevicePtr again = rig.allocated(1000_B);

  ASSERT_EQ(again, block);
  EXPECT_EQ(rig.device.calls().fills, 1U);
  EXPECT_EQ(rig.device.byte_at(again), alloc::kPoison);
}

TEST(PoisonFill, OfAFastFreeComesWhenItsFenceIsDone) {
  CacheRig rig{filling(alloc::Fill::Poison, alloc::FreeMode::Fast)};
  const DevicePtr block = rig.allocated(3_MiB);
  rig.device.submit_work();
  rig.freed(block);

  const DevicePtr early = rig.allocated(3_MiB);
  EXPECT_NE(early, block);
  EXPECT_EQ(rig.device.calls().fills, 0U) << "the old work may still use the block";
  rig.device.finish_work();
  const DevicePtr late = rig.allocated(3_MiB);

  EXPECT_EQ(late, block);
  EXPECT_EQ(rig.device.byte_at(behind(late, 4_MiB - 1_B)), alloc::kPoison);
}

TEST(PoisonFill, OfWhatWasFreedInACaptureComesAfterIt) {
  CacheRig rig{filling(alloc::Fill::Poison)};
  const DevicePtr inside = rig.allocated(1000_B);
  const DevicePtr after = rig.allocated(1000_B);

  rig.device.begin_capture();
  rig.freed(inside);
  rig.device.end_capture();
  EXPECT_EQ(rig.device.calls().fills, 0U);
  rig.freed(after);

  EXPECT_EQ(rig.device.byte_at(inside), alloc::kPoison);
  EXPECT_EQ(rig.device.byte_at(after), alloc::kPoison);
  EXPECT_EQ(rig.pending(), 0_B);
}

TEST(PoisonFill, SurvivesTheEndOfItsContext) {
  for (const alloc::FreeMode free_mode : {alloc::FreeMode::Strict, alloc::FreeMode::Fast}) {
    CacheRig rig{filling(alloc::Fill::Poison, free_mode)};
    const DevicePtr block = rig.allocated(1000_B);
    rig.device.before_fill = [&] {
      rig.device.before_fill = nullptr;
      rig.cache().detach_context(kContext);
      rig.device.destroy_context(kContext);
      rig.cache().forget_detached(kContext);
    };

    rig.freed(block);
    ASSERT_TRUE(rig.cache().empty_cache().ok());

    EXPECT_EQ(rig.reserved(), 0_B);
    EXPECT_EQ(rig[BasisWord::mode], static_cast<std::uint64_t>(DeviceMode::Cache)) << "nothing is wrong";
  }
}

// One thread is at it, another one needs the memory: the program has given it up, so it must be found.
//
//   first                                   second
//   takes the pending block, fills it
//                                           is out of memory, and waits
//   the block is free
//                                           gets it
TEST(PoisonFill, IsWaitedForByWhoeverIsShortOfMemory) {
  CacheRig rig{filling(alloc::Fill::Poison, alloc::FreeMode::Fast), 4_MiB};
  rig.freed(rig.allocated(4_MiB));
  bool was_filled = false;
  std::thread second;
  std::atomic<bool> second_got_it{false};
  rig.device.before_fill = [&] {
    rig.device.before_fill = nullptr;
    was_filled = true;
    second = std::thread([&] { second_got_it = rig.cache().allocate(kContext, 3_MiB).ok(); });
    // It has to find that nothing can be had before this fill is done.
    while (rig.cache().counters()[BasisWord::sync_all_streams] < 2) {
      std::this_thread::yield();
    }
  };

  const Result<Bytes> emptied = rig.cache().empty_cache();
  second.join();

  EXPECT_TRUE(emptied.ok());
  EXPECT_TRUE(was_filled);
  EXPECT_TRUE(second_got_it);
  EXPECT_EQ(rig[BasisWord::ooms], 0U);
}

TEST(Fill, CountsAsTimeInTheDriver) {
  CacheRig rig{filling(alloc::Fill::Poison)};
  const DevicePtr block = rig.allocated(1000_B);
  const std::uint64_t before = rig[BasisWord::driver_ns];
  rig.device.before_fill = [] { TestClock::advance(700); };

  rig.freed(block);

  EXPECT_EQ(rig[BasisWord::driver_ns], before + 700);
}

}  // namespace
}  // namespace tidemark::test
