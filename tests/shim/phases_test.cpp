// Tickets of phases: good once, in the process that has them.
#include "shim/runtime/phases.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <vector>

namespace tidemark::runtime {
namespace {

TEST(Phases, AsManyAsThereAreSlotsAreOpenAtOnce) {
  Phases phases;
  std::set<unsigned> slots;
  std::vector<std::int64_t> tickets;
  for (unsigned i = 0; i < alloc::DeviceCache::kPhaseSlots; ++i) {
    const auto ticket = phases.open();
    ASSERT_TRUE(ticket) << i;
    tickets.push_back(*ticket);
    slots.insert(*phases.slot_of(*ticket));
  }

  EXPECT_FALSE(phases.open());
  EXPECT_EQ(slots.size(), alloc::DeviceCache::kPhaseSlots);
  EXPECT_EQ(*slots.begin(), alloc::DeviceCache::kPeakSlots) << "those before are the viewers'";
  EXPECT_EQ(*slots.rbegin(), alloc::DeviceCache::kAllPeakSlots - 1);
  EXPECT_TRUE(phases.close(tickets[5]));
  EXPECT_EQ(phases.slot_of(phases.open().value()), alloc::DeviceCache::kPeakSlots + 5);
}

TEST(Phases, ATicketIsGoodUntilItIsClosed) {
  Phases phases;
  const std::int64_t first = phases.open().value();
  EXPECT_TRUE(phases.close(first));

  EXPECT_FALSE(phases.close(first));
  EXPECT_FALSE(phases.slot_of(first));
  const std::int64_t second = phases.open().value();
  EXPECT_FALSE(phases.slot_of(first)) << "its slot is another's now";
  EXPECT_TRUE(phases.slot_of(second));
  for (const std::int64_t nonsense : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{77}}) {
    EXPECT_FALSE(phases.slot_of(nonsense));
    EXPECT_FALSE(phases.close(nonsense));
  }
}

// In a forked child the runtime is built anew, and what its parent had open must not be taken for the child's own.
TEST(Phases, AParentsTicketIsNothingInItsChild) {
  const std::int64_t parents = Phases{}.open().value();
  const pid_t child = fork();
  if (child == 0) {
    Phases phases;
    const auto own = phases.open();
    const bool is_kept_apart = own && !phases.slot_of(parents) && !phases.close(parents) && phases.slot_of(*own);
    _exit(is_kept_apart ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);

  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace tidemark::runtime
