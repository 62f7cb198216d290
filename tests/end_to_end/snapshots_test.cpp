// Whenever a reader in another process looks, the numbers add up: also while the program allocates as fast as it can.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "shared/segment/derive.hpp"
#include "shared/segment/enumerate.hpp"
#include "shared/segment/reader.hpp"
#include "tests/end_to_end/guests.hpp"
#include "tests/support/counted_sink.hpp"

namespace tidemark::test {
namespace {

constexpr int kLooks = 500;

std::uint64_t allocations(const DeviceBasis& basis) {
  return basis[BasisWord::small_allocations_total] + basis[BasisWord::large_allocations_total];
}

class Snapshots : public GuestTest {
 protected:
  // What a reader sees wrong while four threads are at it.
  void look(const Launch& launch) {
    Guest guest{launch};
    guest.free(guest.alloc(512));
    const std::vector<std::string> directories = {world_.directory()};
    segment::SegmentListing found = segment::list_segments(directories);
    ASSERT_EQ(found.segments.size(), 1U);
    const segment::SegmentReader& reader = found.segments.front().reader;

    ASSERT_EQ(guest.ask("churn 4"), "running");
    int consistent = 0;
    int moved = 0;
    DeviceBasis before;
    // On a busy machine all of them may be over before the program's threads have run.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    for (int look = 0; look < kLooks || (moved <= 1 && std::chrono::steady_clock::now() < end); ++look) {
      const segment::ProcessSnapshot seen = reader.snapshot();
      ASSERT_EQ(seen.state, segment::ProcessState::Live);
      ASSERT_EQ(seen.devices.size(), 1U);
      if (seen.devices.front().approximate) {
        continue;  // and says so
      }
      ++consistent;
      const DeviceBasis& basis = seen.devices.front().basis;
      const auto broken = segment::check_invariants(basis);
      ASSERT_FALSE(broken) << segment::to_text(*broken);
      ASSERT_EQ(broken_invariant(basis), "");
      ASSERT_GE(allocations(basis), allocations(before));
      ASSERT_GE(basis[BasisWord::lifetime_peak_held_bytes], before[BasisWord::lifetime_peak_held_bytes]);
      moved += allocations(basis) != allocations(before) ? 1 : 0;
      before = basis;
    }
    EXPECT_EQ(guest.code("stop"), 0);

    EXPECT_GT(consistent, 0);
    const nlohmann::json shown = device(guest);
    EXPECT_EQ(stat_of(shown, "allocation.all.current"), 0U);
    EXPECT_EQ(stat_of(shown, "allocation.all.allocated"), stat_of(shown, "allocation.all.freed"));
  }
};
TIDEMARK_FOR_EVERY_GUEST(Snapshots);

TEST_P(Snapshots, AddUpWhileFourThreadsAllocate) { look(shimmed()); }

TEST_P(Snapshots, AddUpWithFastFrees) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_FREE"] = "fast";
  look(launch);
}

TEST_P(Snapshots, AddUpWhereNothingIsCached) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_MODE"] = "count";
  look(launch);
}

}  // namespace
}  // namespace tidemark::test
