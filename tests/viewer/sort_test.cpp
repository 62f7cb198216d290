// The order of processes.
#include "viewer/model/sort.hpp"
#include "viewer/exit_code.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

std::string sorted_by(std::string_view key) {
  View view = sample_view();
  for (std::size_t i = 0; i < 3; ++i) {
    view.processes[i].snapshot.identity.rank.global = static_cast<std::int64_t>(2 - i);
  }
  sort_processes(view, key);
  std::string ids;
  for (const ProcessView& process : view.processes) {
    ids += process.id().substr(0, 4) + ' ';
  }
  return ids;
}

TEST(Sort, PutsTheLargestFirst) {
  EXPECT_EQ(sorted_by("peak"), "00c0 9f3c dead 1111 ");
  EXPECT_EQ(sorted_by("allocated"), "9f3c 00c0 dead 1111 ") << "by the larger of its devices";
  EXPECT_EQ(sorted_by("held"), "00c0 9f3c dead 1111 ");
}

TEST(Sort, PutsTheLowestRankFirstAndThoseWithoutLast) { EXPECT_EQ(sorted_by("rank"), "1111 00c0 9f3c dead "); }

TEST(Sort, LeavesEqualOnesAsTheyAre) { EXPECT_EQ(sorted_by("started"), "9f3c 00c0 1111 dead "); }

TEST(Sort, ByNoKnownWordIsAMistake) {
  View view = sample_view();

  try {
    sort_processes(view, "size");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::Usage);
    EXPECT_STREQ(failure.what(), "--sort 'size'; allowed: started, allocated, peak, reserved, cached, held, rank");
  }
}

}  // namespace
}  // namespace tidemark::viewer
