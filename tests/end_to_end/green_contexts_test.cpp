// A program that works in green contexts of the CUDA driver: their memory is their primary context's, and so is the
// fence.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class GreenContexts : public GuestTest {
 protected:
  // A block is filled with 1 by a stream of a green context, freed, taken again and filled with 2: what stands in it?
  static std::string contents_after_reuse(const Launch& launch, bool frees_in_primary) {
    Guest guest{launch};
    EXPECT_EQ(guest.code("green 0"), 0);
    guest.alloc(4096);
    EXPECT_EQ(guest.code("fill 0 1 4096"), 0);
    if (frees_in_primary) {
      EXPECT_EQ(guest.code("device 0"), 0);
    }
    guest.free(0);
    guest.alloc(4096);
    EXPECT_EQ(guest.code("write 1 2 4096"), 0);
    for (int i = 0; i < 64; ++i) guest.ask("info");
    return guest.ask("read 1 4096");
  }
};
INSTANTIATE_TEST_SUITE_P(On, GreenContexts,
                         testing::Values(GuestKind{"CudaDriver", test_program("guest_cuda_driver"), "cuda", ""},
                                         GuestKind{"CudaByHandle", test_program("guest_cuda_by_handle"), "cuda", ""}),
                         name_of);

TEST_P(GreenContexts, AllocateTheirPrimarysMemory) {
  Guest guest{shimmed()};
  ASSERT_EQ(guest.code("green 0"), 0);

  guest.alloc(1000);
  guest.free(guest.alloc(3 * kMiB));
  EXPECT_EQ(guest.code("device 0"), 0);
  guest.alloc(3 * kMiB);

  EXPECT_EQ(usage(guest), (Usage{1000 + 3 * kMiB, 1024 + 4 * kMiB, 1024 + 4 * kMiB, 6 * kMiB}));
  EXPECT_EQ(device(guest)["cache"]["hits"], 1) << "one cache for both";
  guest.free(0);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

TEST_P(GreenContexts, DoNotHaveTheirMemoryReusedTooEarly) {
  for (const char* mode : {"strict", "fast"}) {
    Launch launch = shimmed();
    launch.environment["TIDEMARK_FREE"] = mode;
    EXPECT_EQ(contents_after_reuse(launch, true), "2 4096") << mode;
    EXPECT_EQ(contents_after_reuse(launch, false), "2 4096") << mode;
  }
  EXPECT_EQ(contents_after_reuse(native(), true), "2 4096");
}

TEST_P(GreenContexts, TakeTheirPrimaryAlongIfTheyWereTheLastToHoldIt) {
  Guest guest{shimmed()};
  ASSERT_EQ(guest.code("green 0"), 0);
  guest.alloc(1000);
  guest.alloc(3 * kMiB);

  ASSERT_EQ(guest.code("end-green"), 0);

  EXPECT_EQ(usage(guest), (Usage{0, 0, 4 * kMiB + 1024, 0}));
  EXPECT_EQ(guest.code("device 0"), 0);
  guest.alloc(1000);
  EXPECT_EQ(usage(guest), (Usage{1000, 1024, 4 * kMiB + 1024, 2 * kMiB}));
}

TEST_P(GreenContexts, LeaveTheirMemoryBehindWherePrimaryIsStillHeld) {
  Guest guest{shimmed()};
  ASSERT_EQ(guest.code("device 0"), 0);
  ASSERT_EQ(guest.code("green 0"), 0);
  guest.alloc(3 * kMiB);

  ASSERT_EQ(guest.code("end-green"), 0);

  EXPECT_EQ(usage(guest).allocated, 4 * kMiB);
  EXPECT_EQ(guest.code("device 0"), 0);
  guest.free(0);
  EXPECT_EQ(usage(guest), (Usage{0, 0, 4 * kMiB, 4 * kMiB}));
}

// Handles come again: what a thread remembers of its current context must not outlive it.
TEST_P(GreenContexts, MayFollowEachOtherOnDifferentDevices) {
  Guest guest{shimmed()};
  for (const int device : {0, 1, 0, 1}) {
    ASSERT_EQ(guest.code("device " + std::to_string(device)), 0);
    ASSERT_EQ(guest.code("green " + std::to_string(device)), 0);
    guest.alloc(1000);
    ASSERT_EQ(guest.code("end-green"), 0);
  }

  EXPECT_EQ(usage(guest, 0).allocated, 2048u);
  EXPECT_EQ(usage(guest, 1).allocated, 2048u);
}

}  // namespace
}  // namespace tidemark::test
