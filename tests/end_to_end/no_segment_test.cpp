// Where no segment can be made: the program runs as ever, and one line says that the counters are off.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class NoSegment : public GuestTest {
 protected:
  static Outcome talk(const Launch& launch) {
    Guest guest{launch};
    EXPECT_EQ(guest.ask("alloc 1000").substr(0, 5), "ok 0 ");
    EXPECT_EQ(guest.ask("alloc 3145728").substr(0, 5), "ok 1 ");
    EXPECT_EQ(guest.ask("pairs 100 4096"), "0");
    guest.free(1);
    return guest.finish();
  }
  static void expect_one_line_and_no_harm(Outcome outcome) {
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("tidemark: ", 0), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find("counters off"), std::string::npos) << outcome.err;
    outcome.err.clear();
    EXPECT_EQ(outcome, Outcome{.exit_code = 0});
  }
};
TIDEMARK_FOR_EVERY_GUEST(NoSegment);

TEST_P(NoSegment, WhereTheDirectoryDoesNotExist) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_DIR"] = world_.directory() + "/nowhere";

  expect_one_line_and_no_harm(talk(launch));
}

TEST_P(NoSegment, WhereTheDirectoryIsRelative) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_DIR"] = "somewhere";

  const Outcome outcome = talk(launch);

  EXPECT_NE(outcome.err.find("somewhere (not an absolute path)"), std::string::npos) << outcome.err;
  expect_one_line_and_no_harm(outcome);
}

TEST_P(NoSegment, WhereTheDirectoryIsAFile) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_DIR"] = world_.directory() + "/file";
  std::ofstream{world_.directory() + "/file"} << "text";

  expect_one_line_and_no_harm(talk(launch));
}

TEST_P(NoSegment, WhereTheDirectoryMayNotBeWritten) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_DIR"] = "/proc/self";

  expect_one_line_and_no_harm(talk(launch));
}

TEST_P(NoSegment, WhereTheDirectoryIsFull) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to mount a small file system";
  if (run({.command = {"unshare", "-m", "true"}}).exit_code != 0) GTEST_SKIP() << "no mount namespaces here";
  Launch launch = shimmed();
  launch.command = {"unshare", "-m", "sh", "-c",
                    "mount -t tmpfs -o size=4k tidemark-test " + world_.directory() + " && exec " + GetParam().program};

  expect_one_line_and_no_harm(talk(launch));
}

TEST_P(NoSegment, BecauseItIsNotWanted) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_SHM"] = "off";

  EXPECT_EQ(talk(launch), Outcome{.exit_code = 0});
  EXPECT_EQ(world_.files(), std::vector<std::string>{});
}

// A file-size limit would end the program with SIGXFSZ, were it met by a write of ours. On MTIA alone: the simulated
// CUDA driver keeps its devices in a file and dies of the limit by itself.
TEST(MtiaWithoutSegment, WhereTheProgramMayWriteNoLargeFile) {
  const ShimWorld world;
  Launch launch = world.under_shim({"bash", "-c", "ulimit -f 1; exec " + test_program("guest_mtia")});

  Guest guest{launch};
  guest.alloc(1000);
  const Outcome outcome = guest.finish();

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_NE(outcome.err.find("counters off"), std::string::npos) << outcome.err;
  EXPECT_EQ(world.files(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tidemark::test
