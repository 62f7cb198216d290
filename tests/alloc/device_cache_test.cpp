// Hits, misses, sizes: what a program gets, and where from.
#include "shim/alloc/device_cache.hpp"

#include <vector>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

struct TableRow {
  Bytes request;
  Bytes allocated;
  Bytes reserved;
};

class DesignTable : public testing::TestWithParam<TableRow> {};

// The table of DESIGN D4.
TEST_P(DesignTable, HoldsToTheByte) {
  CacheRig rig;

  const DevicePtr block = rig.allocated(GetParam().request);

  EXPECT_EQ(rig.requested(), GetParam().request);
  EXPECT_EQ(rig.allocated_bytes(), GetParam().allocated);
  EXPECT_EQ(rig.reserved(), GetParam().reserved);
  rig.freed(block);
  EXPECT_EQ(rig.requested(), 0_B);
  EXPECT_EQ(rig.allocated_bytes(), 0_B);
  EXPECT_EQ(rig.reserved(), GetParam().reserved);
}

INSTANTIATE_TEST_SUITE_P(LargeWhole, DesignTable,
                         testing::Values(TableRow{1000_B, 1024_B, 2_MiB}, TableRow{1_MiB, 1_MiB, 2_MiB},
                                         TableRow{1_MiB + 1_B, 2_MiB, 2_MiB}, TableRow{3_MiB, 4_MiB, 4_MiB},
                                         TableRow{1_B, 512_B, 2_MiB}, TableRow{512_B, 512_B, 2_MiB},
                                         TableRow{2_MiB, 2_MiB, 2_MiB}, TableRow{4_GiB, 4_GiB, 4_GiB}));

TEST(DeviceCache, PassesExactlyTheProgramsSizeThroughInCountMode) {
  Policy policy;
  policy.mode = DeviceMode::Count;
  CacheRig rig{policy};

  const DevicePtr block = rig.allocated(1000_B);

  EXPECT_EQ(rig.requested(), 1000_B);
  EXPECT_EQ(rig.allocated_bytes(), 1000_B);
  EXPECT_EQ(rig.reserved(), 1000_B);
  EXPECT_EQ(rig.device.size_at(block), 1000_B);
  EXPECT_EQ(rig[BasisWord::passed_through], 1U);
  rig.freed(block);
  EXPECT_EQ(rig.reserved(), 0_B);
  EXPECT_EQ(rig.device.live(), 0U);
}

TEST(DeviceCache, CutsSmallRequestsFromOneSegment) {
  CacheRig rig;

  const DevicePtr first = rig.allocated(4_KiB);
  const DevicePtr second = rig.allocated(1000_B);

  EXPECT_EQ(second.address(), first.address() + 4096);
  EXPECT_EQ(rig.device.calls().allocations, 1U);
  EXPECT_EQ(rig.reserved(), 2_MiB);
  EXPECT_EQ(rig[BasisWord::misses], 1U);
  EXPECT_EQ(rig.hits(), 1U);
}

TEST(DeviceCache, HandsAFreedBlockOutAgain) {
  CacheRig rig;
  const DevicePtr first = rig.allocated(4_KiB);
  rig.freed(first);

  const DevicePtr second = rig.allocated(4_KiB);

  EXPECT_EQ(second, first);
  EXPECT_EQ(rig.device.calls().allocations, 1U);
}

TEST(DeviceCache, MergesFreeNeighboursInAnyOrder) {
  CacheRig rig;
  std::vector<DevicePtr> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(rig.allocated(512_KiB));
  }
  ASSERT_EQ(rig.reserved(), 2_MiB);

  for (const int i : {1, 3, 2, 0}) {
    rig.freed(blocks[static_cast<std::size_t>(i)]);
  }

  EXPECT_EQ(rig[BasisWord::small_split_blocks], 0U);
  EXPECT_EQ(rig.allocated(1_MiB), blocks[0]);
  EXPECT_EQ(rig.reserved(), 2_MiB);
}

TEST(DeviceCache, TakesTheTightestOfFourInItsOwnBin) {
  CacheRig rig;
  // 8 bins a doubling: 32 to 35.5 KiB are one bin.
  const DevicePtr loose = rig.allocated(35_KiB);
  const DevicePtr wall1 = rig.allocated(1_MiB);
  const DevicePtr tight = rig.allocated(33_KiB);
  const DevicePtr wall2 = rig.allocated(512_KiB);
  rig.freed(tight);
  rig.freed(loose);

  EXPECT_EQ(rig.allocated(33_KiB), tight);
  EXPECT_EQ(rig.allocated(33_KiB), loose);
  rig.freed(wall1);
  rig.freed(wall2);
}

TEST(DeviceCache, KeepsLargeBlocksWhole) {
  CacheRig rig;
  const DevicePtr first = rig.allocated(32_MiB);
  rig.freed(first);

  const DevicePtr second = rig.allocated(29_MiB);

  EXPECT_EQ(second, first);
  EXPECT_EQ(rig.allocated_bytes(), 32_MiB) << "a whole block's size is its segment's";
  EXPECT_EQ(rig.requested(), 29_MiB);
  EXPECT_EQ(rig[BasisWord::large_split_blocks], 0U);
}

TEST(DeviceCache, ReusesALargeSegmentOnlyIfAnEighthAtMostIsWasted) {
  CacheRig rig;
  const DevicePtr cached = rig.allocated(32_MiB);
  rig.freed(cached);

  const DevicePtr too_small = rig.allocated(26_MiB);     // 32 - 26 > 32 / 8
  const DevicePtr large_enough = rig.allocated(28_MiB);  // 32 - 28 = 32 / 8

  EXPECT_NE(too_small, cached);
  EXPECT_EQ(large_enough, cached);
  EXPECT_EQ(rig.reserved(), 32_MiB + 26_MiB);
}

TEST(DeviceCache, SplitsLargeSegmentsAsPyTorchDoesWhereThePolicySaysSo) {
  CacheRig rig{Policy::mtia_default()};

  const DevicePtr first = rig.allocated(3_MiB);
  const DevicePtr second = rig.allocated(3_MiB);

  EXPECT_EQ(rig.reserved(), 20_MiB);
  EXPECT_EQ(rig.allocated_bytes(), 6_MiB);
  EXPECT_EQ(second.address(), first.address() + (3_MiB).count());
  EXPECT_EQ(rig[BasisWord::large_split_blocks], 1U);
  EXPECT_EQ(rig[BasisWord::large_split_bytes], (14_MiB).count());
}

TEST(DeviceCache, LeavesARestUpToOneMiBWithALargeBlock) {
  CacheRig rig{Policy::mtia_default()};
  const DevicePtr whole = rig.allocated(12_MiB);
  rig.freed(whole);

  const DevicePtr block = rig.allocated(11_MiB);

  EXPECT_EQ(block, whole);
  EXPECT_EQ(rig.allocated_bytes(), 12_MiB);
}

TEST(DeviceCache, KeepsBlocksFromMaxSplitSizeOnForRequestsOfThatSize) {
  Policy policy = Policy::mtia_default();
  policy.max_split_size = 64_MiB;
  CacheRig rig{policy};
  const DevicePtr oversize = rig.allocated(100_MiB);
  EXPECT_EQ(rig[BasisWord::oversize_blocks], 1U);
  EXPECT_EQ(rig[BasisWord::oversize_segments], 1U);
  rig.freed(oversize);
  EXPECT_EQ(rig[BasisWord::oversize_blocks], 0U);

  const DevicePtr small = rig.allocated(30_MiB);
  const DevicePtr much_smaller = rig.allocated(80_MiB);  // a waste of 20 MiB is too much
  const DevicePtr near = rig.allocated(81_MiB);

  EXPECT_NE(small, oversize);
  EXPECT_NE(much_smaller, oversize);
  EXPECT_EQ(near, oversize);
  EXPECT_EQ(rig[BasisWord::oversize_blocks_total], 3U);
}

TEST(DeviceCache, KeepsContextsApart) {
  CacheRig rig;
  const alloc::ContextId other{2};
  const DevicePtr first = rig.allocated(4_KiB, kContext);
  rig.freed(first);

  const DevicePtr second = rig.allocated(4_KiB, other);

  EXPECT_NE(second, first);
  EXPECT_EQ(rig.reserved(), 4_MiB);
  EXPECT_EQ(rig.allocated(4_KiB, kContext), first);
}

TEST(DeviceCache, KnowsItsPointersByRange) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  const DevicePtr inside{block.address() + 512};
  const DevicePtr foreign{0x1234'0000};

  EXPECT_EQ(rig.map->owner_of(block), &rig.cache());
  EXPECT_EQ(rig.map->owner_of(inside), &rig.cache());
  EXPECT_EQ(rig.map->owner_of(foreign), nullptr);
  EXPECT_EQ(rig.cache().release(inside).error().code, ErrorCode::InvalidValue);
  EXPECT_EQ(rig.cache().release(foreign).error().code, ErrorCode::NotOurs);
  rig.freed(block);
  EXPECT_EQ(rig.cache().release(block).error().code, ErrorCode::InvalidValue)
      << "a double free, the segment is still ours";
}

TEST(DeviceCache, AStaleSubBlockPointerNeverFreesItsNeighbours) {
  CacheRig rig;
  const DevicePtr front = rig.allocated(4_KiB);  // its address is the segment's
  const DevicePtr neighbour = rig.allocated(4_KiB);
  rig.freed(front);

  EXPECT_EQ(rig.cache().release(front).error().code, ErrorCode::InvalidValue);
  EXPECT_EQ(rig.device.calls().releases, 0U);
  rig.freed(neighbour);
}

TEST(DeviceCache, PassesAbsurdSizesToTheDriver) {
  CacheRig rig;

  const Result<DevicePtr> refused = rig.cache().allocate(kContext, Bytes{std::uint64_t{1} << 62});

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().native, kFakeOutOfMemory);
  EXPECT_EQ(rig.sink.publications(), 0U) << "no counter moves";
}

TEST(DeviceCache, TellsWhereAnAddressLies) {
  CacheRig rig;
  const DevicePtr first = rig.allocated(1000_B);
  const DevicePtr second = rig.allocated(4_KiB);
  const DevicePtr large = rig.allocated(3_MiB);

  const auto inside = rig.cache().find(DevicePtr{second.address() + 100});
  const auto whole = rig.cache().find(large);

  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->segment, first);
  EXPECT_EQ(inside->segment_size, 2_MiB);
  EXPECT_EQ(inside->block, second);
  EXPECT_EQ(inside->block_size, 4_KiB);
  EXPECT_EQ(inside->requested, 4_KiB);
  EXPECT_TRUE(inside->live);
  EXPECT_FALSE(inside->whole_segment);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->whole_segment);
  EXPECT_FALSE(rig.cache().find(DevicePtr{42}));
}

TEST(DeviceCache, KnowsOfEachBlockInWhichBeatItWasHandedOut) {
  CacheRig rig;
  const DevicePtr early = rig.allocated(1000_B);
  rig.cache().set_beat(7);
  const DevicePtr late = rig.allocated(3_MiB);
  const DevicePtr again = rig.allocated(1000_B);
  rig.freed(again);
  rig.cache().set_beat(9);
  const DevicePtr reused = rig.allocated(1000_B);

  EXPECT_EQ(rig.cache().find(early)->birth_beat, 0U);
  EXPECT_EQ(rig.cache().find(late)->birth_beat, 7U);
  ASSERT_EQ(reused, again);
  EXPECT_EQ(rig.cache().find(reused)->birth_beat, 9U);
  rig.freed(reused);
  EXPECT_EQ(rig.cache().find(reused)->birth_beat, 0U) << "nobody's";
}

TEST(DeviceCache, ForgetsASegmentWhoseAddressTheDriverGivesAgain) {
  CacheRig rig;
  const DevicePtr lost = rig.allocated(3_MiB);
  rig.device.vanish(lost);  // freed on a way that nobody saw

  const DevicePtr again = rig.allocated(8_MiB);

  EXPECT_EQ(again, lost);
  EXPECT_EQ(rig.reserved(), 8_MiB);
  EXPECT_EQ(rig.allocated_bytes(), 8_MiB);
  rig.freed(again);
}

TEST(DeviceCache, BooksMemoryThatTheDriverGaveInACallOfTheProgramsOwn) {
  CacheRig rig;
  const DevicePtr native = rig.device.allocate(kContext, 777_B).value();

  EXPECT_TRUE(rig.cache().adopt_pass_through(kContext, native, 777_B));

  EXPECT_EQ(rig.reserved(), 777_B);
  EXPECT_EQ(rig[BasisWord::passed_through], 1U);
  EXPECT_EQ(rig.map->owner_of(native), &rig.cache());
  rig.freed(native);
  EXPECT_EQ(rig.device.live(), 0U);
}

TEST(DeviceCache, ManyLiveBlocksKeepTheirAddresses) {
  CacheRig rig;
  std::vector<DevicePtr> blocks;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    blocks.push_back(rig.allocated(Bytes{512 + i % 5000}));
  }
  rig.check();

  for (const DevicePtr block : blocks) {
    ASSERT_TRUE(rig.cache().release(block).ok());
  }

  EXPECT_EQ(rig.allocated_bytes(), 0_B);
  EXPECT_EQ(rig[BasisWord::small_split_blocks], 0U);
}

}  // namespace
}  // namespace tidemark::test
