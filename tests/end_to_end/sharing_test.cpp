// What leaves the process or the order of its calls: handles for other processes, frees in the order of a stream.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

constexpr int kInvalidValue = 1;
constexpr int kNoSuchCall = -1;

std::vector<GuestKind> cuda_kinds() {
  std::vector<GuestKind> kinds = guest_kinds();
  std::erase_if(kinds, [](const GuestKind& kind) { return kind.backend != "cuda"; });
  return kinds;
}

class Sharing : public GuestTest {};
INSTANTIATE_TEST_SUITE_P(On, Sharing, testing::ValuesIn(cuda_kinds()), name_of);

// Its handle would open the whole segment, the neighbours' blocks with it.
TEST_P(Sharing, OfAPartOfASegmentIsRefusedAsADriverWould) {
  Guest guest{shimmed()};
  guest.alloc(1000);

  EXPECT_EQ(guest.code("ipc 0"), kInvalidValue);

  guest.free(0);
  EXPECT_EQ(usage(guest).allocated, 0u);
}

// Whoever opened it may use it after our free: a real free is what the other side counts on.
TEST_P(Sharing, OfAWholeSegmentPinsIt) {
  Guest guest{shimmed()};
  guest.alloc(3 * kMiB);
  guest.alloc(5 * kMiB);

  EXPECT_EQ(guest.code("ipc 0"), 0);

  guest.free(0);
  EXPECT_EQ(usage(guest), (Usage{5 * kMiB, 6 * kMiB, 10 * kMiB, 6 * kMiB}));
  EXPECT_EQ(device(guest)["cache"]["pinned_bytes"], 0);
}

// Sub-allocation has ended for a process that shares memory: the next small block is one that a handle can be had for.
TEST_P(Sharing, MakesLaterBlocksSharable) {
  Guest guest{shimmed()};
  guest.alloc(3 * kMiB);
  ASSERT_EQ(guest.code("ipc 0"), 0);

  guest.alloc(1000);

  EXPECT_EQ(guest.code("ipc 1"), 0);
}

// It may write to the block after our free. By the attribute that announces it, by a token for its driver, by a token
// among other answers.
TEST_P(Sharing, WithANetworkCardPinsTheSegment) {
  for (const char* way : {" 0", " 1", " 2"}) {
    Guest guest{shimmed()};
    guest.alloc(1000);
    guest.alloc(3 * kMiB);
    const int code = guest.code(std::string{"card 0"} + way);
    if (code == kNoSuchCall) GTEST_SKIP() << "the runtime has no such call";
    ASSERT_EQ(code, 0) << way;
    ASSERT_EQ(guest.code(std::string{"card 1"} + way), 0) << way;

    guest.free(0);
    guest.free(1);
    EXPECT_EQ(usage(guest).reserved, 0u) << way;
    guest.alloc(1000);
    EXPECT_EQ(device(guest)["cache"]["passed_through"], 1) << way;
  }
}

TEST_P(Sharing, AFreeInAStreamsOrderIsOneOfOurs) {
  Guest guest{shimmed()};
  guest.alloc(1000);
  guest.alloc(3 * kMiB);

  EXPECT_EQ(guest.code("free-async 0"), 0);
  EXPECT_EQ(guest.code("free-async 1"), 0);

  // Such a free never waits: the blocks are pending until a later call finds their work done.
  EXPECT_EQ(usage(guest).allocated, 0u);
  EXPECT_EQ(usage(guest).reserved, 6 * kMiB);
  EXPECT_EQ(guest.code("free-async 0"), kInvalidValue);
}

}  // namespace
}  // namespace tidemark::test
