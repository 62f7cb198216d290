// What the viewer shows of an unmodified program is right to the byte, and what it changes from outside is the peak
// alone.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class Counters : public GuestTest {};
TIDEMARK_FOR_EVERY_GUEST(Counters);

// The stats without their peaks: what no reset of peaks may touch.
nlohmann::json without_peaks(const nlohmann::json& device) {
  nlohmann::json rest = nlohmann::json::object();
  for (const auto& [key, value] : device["stats"].items()) {
    if (key.size() < 5 || key.compare(key.size() - 5, 5, ".peak") != 0) rest[key] = value;
  }
  return rest;
}

TEST_P(Counters, AreExactWhileMemoryIsHeld) {
  struct Row {
    std::uint64_t requested, allocated, reserved;
  };
  for (const Row& row :
       {Row{1, 512, 2 * kMiB}, Row{1000, 1024, 2 * kMiB}, Row{kMiB, kMiB, 2 * kMiB}, Row{kMiB + 1, 2 * kMiB, 2 * kMiB},
        Row{3 * kMiB, 4 * kMiB, 4 * kMiB}, Row{100 * kMiB + 7, 102 * kMiB, 102 * kMiB}}) {
    Guest guest{shimmed_whole()};

    guest.alloc(row.requested);

    EXPECT_EQ(usage(guest), (Usage{row.requested, row.allocated, row.allocated, row.reserved}));
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
  }
}

TEST_P(Counters, ShareASmallSegment) {
  Guest guest{shimmed_whole()};

  guest.alloc(1000);
  guest.alloc(1000);
  guest.alloc(kMiB);

  EXPECT_EQ(usage(guest), (Usage{2000 + kMiB, 2048 + kMiB, 2048 + kMiB, 2 * kMiB}));
  EXPECT_EQ(stat_of(device(guest), "segment.all.current"), 1u);
}

TEST_P(Counters, KeepWhatIsFreedAsReservedAndHandItOutAgain) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(3 * kMiB));

  EXPECT_EQ(usage(guest), (Usage{0, 0, 4 * kMiB, 4 * kMiB}));

  guest.alloc(4 * kMiB);

  EXPECT_EQ(usage(guest), (Usage{4 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB}));
  const nlohmann::json shown = device(guest);
  EXPECT_EQ(shown["cache"]["hits"], 1);
  EXPECT_EQ(shown["cache"]["misses"], 1);
  EXPECT_EQ(stat_of(shown, "allocation.all.allocated"), 2u);
  EXPECT_EQ(stat_of(shown, "allocation.all.freed"), 1u);
}

TEST_P(Counters, KeepTheDevicesApart) {
  Guest guest{shimmed_whole()};

  guest.alloc(1000);
  EXPECT_EQ(guest.code("device 1"), 0);
  guest.alloc(3 * kMiB);

  EXPECT_EQ(usage(guest, 0), (Usage{1000, 1024, 1024, 2 * kMiB}));
  EXPECT_EQ(usage(guest, 1), (Usage{3 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB}));
}

TEST_P(Counters, OfAnIdleProgramHaveTheirPeakResetFromOutside) {
  Guest guest{shimmed_whole()};
  const int large = guest.alloc(3 * kMiB);
  guest.alloc(1000);
  guest.free(large);
  const nlohmann::json before = device(guest);
  ASSERT_EQ(usage_of(before), (Usage{1000, 1024, 4 * kMiB + 1024, 6 * kMiB}));

  const Outcome reset = world_.tidemark({"reset-peak", std::to_string(guest.pid())});

  EXPECT_EQ(reset.exit_code, 0) << describe(reset);
  const nlohmann::json after = device(guest);
  EXPECT_EQ(usage_of(after), (Usage{1000, 1024, 1024, 6 * kMiB}));
  EXPECT_EQ(without_peaks(after), without_peaks(before));
  EXPECT_EQ(stat_of(after, "reserved_bytes.all.peak"), 6 * kMiB);
  EXPECT_EQ(after["lifetime_peak"]["allocated_bytes"], 4 * kMiB + 1024);
}

TEST_P(Counters, PeakOfOneDeviceIsResetAlone) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(1000));
  EXPECT_EQ(guest.code("device 1"), 0);
  guest.free(guest.alloc(1000));

  const Outcome reset = world_.tidemark({"reset-peak", std::to_string(guest.pid()), "--device", GetParam().device(1)});

  EXPECT_EQ(reset.exit_code, 0) << describe(reset);
  EXPECT_EQ(usage(guest, 0).peak, 1024u);
  EXPECT_EQ(usage(guest, 1).peak, 0u);
}

TEST_P(Counters, PeakGrowsAgainAfterAReset) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(3 * kMiB));
  ASSERT_EQ(world_.tidemark({"reset-peak", "--all"}).exit_code, 0);

  guest.free(guest.alloc(1000));

  EXPECT_EQ(usage(guest).peak, 1024u);
}

TEST_P(Counters, AgreeWithTheProgramsOwnQuestionForFreeMemory) {
  Guest alone{native()};
  const std::uint64_t nothing_held = std::stoull(alone.ask("info"));
  Guest guest{shimmed_whole()};

  const int large = guest.alloc(3 * kMiB);
  guest.alloc(1000);

  EXPECT_EQ(std::stoull(guest.ask("info")), nothing_held - 6 * kMiB);
  // A segment that is wholly idle can go back to the driver at any time: it is free.
  guest.free(large);
  EXPECT_EQ(std::stoull(guest.ask("info")), nothing_held - 2 * kMiB);
}

TEST_P(Counters, TotalsStartAgainAfterResetAccumulated) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(1000));
  guest.alloc(1000);

  ASSERT_EQ(world_.tidemark({"reset-accumulated", std::to_string(guest.pid())}).exit_code, 0);

  const nlohmann::json shown = device(guest);
  EXPECT_EQ(stat_of(shown, "allocation.all.allocated"), 0u);
  EXPECT_EQ(stat_of(shown, "allocation.all.freed"), 0u);
  EXPECT_EQ(shown["cache"]["hits"], 0);
  EXPECT_EQ(usage_of(shown), (Usage{1000, 1024, 1024, 2 * kMiB}));
}

TEST_P(Counters, CountTheSameWhenNothingIsCached) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_MODE"] = "count";
  Guest guest{launch};

  guest.free(guest.alloc(3 * kMiB));
  guest.alloc(1000);

  EXPECT_EQ(usage(guest), (Usage{1000, 1000, 3 * kMiB, 1000}));
  EXPECT_EQ(device(guest)["cache"]["passed_through"], 2);
  EXPECT_EQ(world_.process(guest.pid())["mode"], "count");
}

TEST_P(Counters, FromManyThreadsAddUp) {
  Guest guest{shimmed_whole()};

  EXPECT_EQ(guest.code("threads 4 500 4096"), 0);

  const nlohmann::json shown = device(guest);
  EXPECT_EQ(stat_of(shown, "allocation.all.allocated"), 2000u);
  EXPECT_EQ(stat_of(shown, "allocation.all.freed"), 2000u);
  EXPECT_EQ(usage_of(shown).allocated, 0u);
}

// PyTorch's sizes, MTIA's default: up to 10 MiB cut from 20 MiB segments, more in steps of 2 MiB.
TEST(MtiaCounters, FollowPyTorchsLargePool) {
  const ShimWorld world;
  Guest guest{world.under_shim({test_program("guest_mtia")})};

  guest.alloc(3 * kMiB);
  EXPECT_EQ(usage_of(world.device(guest.pid(), "mtia:0")), (Usage{3 * kMiB, 3 * kMiB, 3 * kMiB, 20 * kMiB}));

  guest.alloc(11 * kMiB);
  EXPECT_EQ(usage_of(world.device(guest.pid(), "mtia:0")), (Usage{14 * kMiB, 14 * kMiB, 14 * kMiB, 20 * kMiB}));

  guest.alloc(12 * kMiB + 1);
  EXPECT_EQ(usage_of(world.device(guest.pid(), "mtia:0")).reserved, 34 * kMiB);
}

// MTIA has no NCCL that a trim in the background could block, so it is done at once; CUDA waits for the program.
TEST(MtiaCounters, GiveTheCacheBackAtOnce) {
  const ShimWorld world;
  Guest guest{world.under_shim({test_program("guest_mtia")})};
  guest.free(guest.alloc(3 * kMiB));

  EXPECT_EQ(world.tidemark({"empty-cache", std::to_string(guest.pid())}).exit_code, 0);

  EXPECT_EQ(usage_of(world.device(guest.pid(), "mtia:0")), (Usage{0, 0, 3 * kMiB, 0}));
}

TEST(Counters, HaveAnEmptyCacheAtOnceWhereNothingIsCached) {
  const ShimWorld world;
  for (const GuestKind& kind : guest_kinds()) {
    Launch launch = world.under_shim({kind.program});
    launch.environment["TIDEMARK_MODE"] = "count";
    Guest guest{launch};
    guest.alloc(3 * kMiB);

    const Outcome asked = world.tidemark({"empty-cache", std::to_string(guest.pid())});

    EXPECT_EQ(asked.exit_code, 0) << kind.name << describe(asked);
    EXPECT_NE(asked.out.find("nothing was cached"), std::string::npos) << describe(asked);
  }
}

#ifdef TIDEMARK_TEST_CUDA
TEST(CudaCounters, GiveTheCacheBackInTheProgramsNextAllocation) {
  const ShimWorld world;
  Guest guest{world.under_shim({test_program("guest_cuda_runtime")})};
  guest.free(guest.alloc(3 * kMiB));

  const Outcome asked = world.tidemark({"empty-cache", std::to_string(guest.pid()), "--timeout", "0", "--json"});

  EXPECT_EQ(asked.exit_code, 0) << describe(asked);
  EXPECT_EQ(nlohmann::json::parse(asked.out)["results"][0]["status"], "deferred");
  EXPECT_EQ(usage_of(world.device(guest.pid(), "cuda:0")).reserved, 4 * kMiB);
  guest.alloc(1000);
  EXPECT_EQ(usage_of(world.device(guest.pid(), "cuda:0")).reserved, 2 * kMiB);
}
#endif

}  // namespace
}  // namespace tidemark::test
