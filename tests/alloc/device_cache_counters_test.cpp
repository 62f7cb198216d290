// Peaks, resets, totals: PyTorch's rules, in the words from which its keys are derived.
#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

TEST(Counters, APeakIsTheHighestAndItsResetMakesItTheCurrent) {
  CacheRig rig;
  const DevicePtr kept = rig.allocated(4_KiB);
  rig.freed(rig.allocated(10_MiB));

  EXPECT_EQ(rig[BasisWord::peak_all_allocated_bytes], (10_MiB + 4_KiB).count());
  EXPECT_EQ(rig[BasisWord::peak_small_allocated_bytes], (4_KiB).count());
  rig.cache().reset_peaks();

  EXPECT_EQ(rig[BasisWord::peak_all_allocated_bytes], (4_KiB).count()) << "current, never 0";
  EXPECT_EQ(rig[BasisWord::peak_all_allocation], 1U);
  EXPECT_EQ(rig[BasisWord::peak_large_active_bytes], 0U);
  EXPECT_EQ(rig[BasisWord::peak_all_reserved_bytes], (12_MiB).count());
  EXPECT_EQ(rig[BasisWord::held_peak_bytes], (12_MiB).count());
  EXPECT_EQ(rig[BasisWord::lifetime_peak_allocated_bytes], (10_MiB + 4_KiB).count());
  EXPECT_EQ(rig[BasisWord::peak_resets], 1U);
  EXPECT_EQ(rig[BasisWord::peak_reset_time_ns], TestClock::kEpoch + TestClock::now());
  rig.freed(kept);
}

TEST(Counters, ResettingTotalsKeepsCurrentsAndPeaks) {
  CacheRig rig;
  const DevicePtr kept = rig.allocated(4_KiB);
  rig.freed(rig.allocated(8_KiB));

  rig.cache().reset_accumulated();

  EXPECT_EQ(rig.both(BasisWord::small_allocations_total), 0U);
  EXPECT_EQ(rig[BasisWord::misses], 0U);
  EXPECT_EQ(rig.hits(), 0U);
  EXPECT_EQ(rig[BasisWord::device_allocs], 0U);
  EXPECT_EQ(rig[BasisWord::base_small_allocation], 1U);
  EXPECT_EQ(rig[BasisWord::base_small_allocated_bytes], (4_KiB).count());
  EXPECT_EQ(rig[BasisWord::base_small_reserved_bytes], (2_MiB).count());
  EXPECT_EQ(rig.allocated_bytes(), 4_KiB);
  EXPECT_EQ(rig[BasisWord::peak_all_allocated_bytes], (12_KiB).count());
  rig.freed(kept);
  // freed = total - current + base
  EXPECT_EQ(0 - rig.both(BasisWord::small_live_blocks) + rig[BasisWord::base_small_allocation], 1U);
}

TEST(Counters, SplitCountersMoveAsInPyTorch) {
  CacheRig rig;
  const std::uint64_t segment = (2_MiB).count();

  const DevicePtr a = rig.allocated(512_KiB);  // cut from an unsplit block: +1, + the rest
  EXPECT_EQ(rig[BasisWord::small_split_blocks], 1U);
  EXPECT_EQ(rig[BasisWord::small_split_bytes], segment - (512_KiB).count());
  const DevicePtr b = rig.allocated(512_KiB);  // from a split one: - what was handed out
  EXPECT_EQ(rig[BasisWord::small_split_blocks], 1U);
  EXPECT_EQ(rig[BasisWord::small_split_bytes], (1_MiB).count());
  const DevicePtr c = rig.allocated(1_MiB);  // the whole rest
  EXPECT_EQ(rig[BasisWord::small_split_blocks], 0U);
  EXPECT_EQ(rig[BasisWord::small_split_bytes], 0U);
  EXPECT_EQ(rig[BasisWord::small_split_blocks_total], 1U);
  EXPECT_EQ(rig[BasisWord::small_split_bytes_total], segment - (512_KiB).count());

  rig.freed(a);  // alone: +1
  rig.freed(c);  // alone: +1
  EXPECT_EQ(rig[BasisWord::small_split_blocks], 2U);
  EXPECT_EQ(rig[BasisWord::small_split_blocks_total], 3U);
  rig.freed(b);  // merges both and is whole: -2
  EXPECT_EQ(rig[BasisWord::small_split_blocks], 0U);
  EXPECT_EQ(rig[BasisWord::small_split_bytes], 0U);
  EXPECT_EQ(rig[BasisWord::small_split_blocks_total], 3U);
  EXPECT_EQ(rig[BasisWord::peak_small_inactive_split], 2U);
  EXPECT_EQ(rig[BasisWord::peak_all_inactive_split_bytes], (2_MiB - 512_KiB).count());
}

TEST(Counters, RequestedBytesDropWhenTheFreeCompletes) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(1000_B);
  rig.device.begin_capture();
  rig.freed(block);

  EXPECT_EQ(rig.allocated_bytes(), 0_B);
  EXPECT_EQ(rig.requested(), 1000_B);
  EXPECT_EQ(rig.pending(), 1024_B);
  rig.device.end_capture();
  ASSERT_TRUE(rig.cache().empty_cache().ok());
  EXPECT_EQ(rig.requested(), 0_B);
}

TEST(Counters, HeldIsReservedAndTheOtherKinds) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(10_MiB);

  rig.cache().add_other_kinds(5_MiB);
  EXPECT_EQ(rig[BasisWord::held_bytes], (15_MiB).count());
  rig.cache().remove_other_kinds(2_MiB);

  EXPECT_EQ(rig[BasisWord::held_bytes], (13_MiB).count());
  EXPECT_EQ(rig[BasisWord::held_peak_bytes], (15_MiB).count());
  rig.freed(block);
  ASSERT_TRUE(rig.cache().empty_cache().ok());
  EXPECT_EQ(rig[BasisWord::held_bytes], (3_MiB).count());
}

TEST(Counters, EachPeakSlotHasItsOwnPeak) {
  CacheRig rig;
  rig.cache().reset_peak_slot(3);
  const DevicePtr a = rig.allocated(10_MiB);
  rig.cache().reset_peak_slot(7);
  rig.freed(a);
  rig.freed(rig.allocated(4_MiB));

  EXPECT_EQ(rig.cache().peak_slot(3).allocated, 10_MiB);
  EXPECT_EQ(rig.cache().peak_slot(7).allocated, 10_MiB) << "it began with 10 MiB allocated";
  rig.cache().reset_peak_slot(7);
  EXPECT_EQ(rig.cache().peak_slot(7).allocated, 0_B);
  EXPECT_EQ(rig.cache().peak_slot(7).reserved, 14_MiB);
  EXPECT_EQ(rig.cache().peak_slot(3).allocated, 10_MiB);
  rig.cache().reset_peaks();
  EXPECT_EQ(rig.cache().peak_slot(3).allocated, 10_MiB) << "a global reset disturbs nobody";
  EXPECT_EQ(rig[BasisWord::peak_all_allocated_bytes], 0U);
  const DevicePtr b = rig.allocated(4_MiB);
  EXPECT_EQ(rig.cache().peak_slot(7).allocated, 4_MiB);
  EXPECT_EQ(rig[BasisWord::peak_all_allocated_bytes], (4_MiB).count());
  rig.freed(b);
}

// Beside it a twin whose peaks are really reset at that moment: each of its words is what the slot has to say.
TEST(Counters, ASlotSaysWhatAllPeaksWouldBeHadTheyBeenResetWithIt) {
  const auto before = [](CacheRig& rig) {
    rig.freed(rig.allocated(30_MiB));
    rig.freed(rig.allocated(700_B));
    ASSERT_TRUE(rig.cache().empty_cache().ok());
    rig.cache().add_other_kinds(5_MiB);
    rig.cache().remove_other_kinds(4_MiB);
  };
  const auto after = [](CacheRig& rig) {
    const DevicePtr small = rig.allocated(3000_B);
    const DevicePtr large = rig.allocated(22_MiB);
    rig.cache().add_other_kinds(1_MiB);
    rig.freed(rig.allocated(700_KiB));
    rig.freed(large);
    rig.freed(small);
  };
  Policy policy = Policy::mtia_default();
  policy.max_split_size = 21_MiB;  // so that there are oversize ones
  CacheRig measured{policy};
  CacheRig twin{policy};
  const unsigned slot = alloc::DeviceCache::kAllPeakSlots - 1;
  before(measured);
  before(twin);

  measured.cache().reset_peak_slot(slot);
  twin.cache().reset_peaks();
  after(measured);
  after(twin);

  const DeviceBasis since = measured.cache().counters_since(slot);
  const DeviceBasis wanted = twin.cache().counters();
  for (std::size_t peak = index_of(BasisWord::held_peak_bytes); peak <= index_of(BasisWord::peak_oversize_segments);
       ++peak) {
    EXPECT_EQ(since.words[peak], wanted.words[peak]) << "word " << peak;
  }
  EXPECT_EQ(since[BasisWord::peak_oversize_blocks], 1U);
  EXPECT_EQ(since[BasisWord::peak_small_allocated_bytes], Bytes{716'800 + 3072}.count());
  EXPECT_EQ(measured[BasisWord::peak_all_allocated_bytes], (30_MiB).count()) << "everybody else's peak stays";
}

TEST(Counters, NestedSlotsAndAResetBetweenThemAreEachRight) {
  CacheRig rig;
  const unsigned outer = alloc::DeviceCache::kPeakSlots;
  const unsigned inner = outer + 1;
  rig.cache().reset_peak_slot(outer);
  rig.freed(rig.allocated(8_MiB));
  rig.cache().reset_peak_slot(inner);
  rig.freed(rig.allocated(2_MiB));
  rig.cache().reset_peaks();

  EXPECT_EQ(rig.cache().peak_slot(inner).allocated, 2_MiB);
  EXPECT_EQ(rig.cache().peak_slot(outer).allocated, 8_MiB);
  EXPECT_EQ(rig[BasisWord::peak_all_allocated_bytes], 0U);
}

TEST(Counters, ASlotThatNobodyHasKnowsThePeakSinceTheStart) {
  CacheRig rig;
  const unsigned slot = alloc::DeviceCache::kPeakSlots;
  const unsigned other = slot + 1;
  rig.freed(rig.allocated(8_MiB));
  EXPECT_EQ(rig.cache().reset_peak_slot(slot).allocated, 0_MiB);
  rig.freed(rig.allocated(2_MiB));
  rig.cache().reset_peak_slot(other);

  EXPECT_EQ(rig.cache().end_peak_slot(slot).allocated, 2_MiB);

  rig.freed(rig.allocated(4_MiB));
  rig.cache().reset_peak_slot(other);
  EXPECT_EQ(rig.cache().peak_slot(slot).allocated, 8_MiB) << "given back";
  EXPECT_EQ(rig.cache().peak_slot(slot + 2).allocated, 8_MiB) << "never used";
  const DevicePtr kept = rig.allocated(2_MiB);
  EXPECT_EQ(rig.cache().reset_peak_slot(slot).allocated, 2_MiB) << "begun again";
  rig.freed(kept);
  EXPECT_EQ(rig.cache().peak_slot(slot).allocated, 2_MiB);
}

TEST(Counters, TheDriversTimeIsCounted) {
  CacheRig rig;
  rig.device.before_allocate = [] { TestClock::advance(100); };
  rig.device.before_release = [] { TestClock::advance(1000); };

  rig.freed(rig.allocated(10_MiB));
  ASSERT_TRUE(rig.cache().empty_cache().ok());

  EXPECT_EQ(rig[BasisWord::driver_ns], 1100U);
}

TEST(Counters, AreAllPublishedAgainForALateReader) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(4_KiB);
  const std::uint64_t before = rig.sink.publications();

  rig.cache().publish_all();

  EXPECT_EQ(rig.sink.publications(), before + 1);
  EXPECT_EQ(rig.cache().counters().words, rig.sink.seen().words);
  rig.freed(block);
}

TEST(Counters, SaySettingsFromTheFirstPublication) {
  Policy policy = Policy::mtia_default();
  policy.max_split_size = 64_MiB;
  policy.limit = 1_GiB;
  CacheRig rig{policy, 4_GiB};

  rig.cache().publish_all();

  EXPECT_EQ(rig[BasisWord::capacity_bytes], (4_GiB).count());
  EXPECT_EQ(rig[BasisWord::limit_bytes], (1_GiB).count());
  EXPECT_EQ(rig[BasisWord::max_split_size], (64_MiB).count());
  CacheRig plain;
  plain.cache().publish_all();
  EXPECT_EQ(static_cast<std::int64_t>(plain[BasisWord::max_split_size]), -1);
}

}  // namespace
}  // namespace tidemark::test
