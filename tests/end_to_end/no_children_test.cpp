// `tidemark run --no-children`: the program is tracked, and nothing that it starts, in whichever way.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class NoChildren : public GuestTest {
 protected:
  [[nodiscard]] Launch alone(std::vector<std::string> command) const {
    command.insert(command.begin(), {"run", "--no-children", "--"});
    Launch launch = world_.viewer(std::move(command));
    launch.environment["LD_LIBRARY_PATH"] = simulator_directory();
    launch.environment["TIDEMARK_ALLOC_CONF"] = "large:whole";
    return launch;
  }
  [[nodiscard]] Launch alone() const { return alone({GetParam().program}); }

  void expect_one_process(const Guest& guest, const Usage& expected) const {
    EXPECT_EQ(world_.ps()["processes"].size(), 1u);
    EXPECT_EQ(usage(guest), expected);
  }
};
TIDEMARK_FOR_EVERY_GUEST(NoChildren);

TEST_P(NoChildren, TracksTheProgramItself) {
  Guest guest{alone()};

  guest.alloc(1000);

  expect_one_process(guest, {1000, 1024, 1024, 2 * kMiB});
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

TEST_P(NoChildren, IsBlindForForkedOnes) {
  for (const char* way : {"fork", "clone"}) {
    Guest guest{alone()};

    EXPECT_EQ(guest.ask(way).substr(0, 6), "child ");
    guest.alloc(1000);  // the child's

    EXPECT_EQ(world_.ps()["processes"].size(), 0u) << way;
    guest.free(0);
    EXPECT_EQ(guest.ask("exit 7"), "child ended 7") << way;
    guest.alloc(3 * kMiB);
    expect_one_process(guest, {3 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB});
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0}) << way;
  }
}

// The child finds its parent's runtime in its memory, which was counting.
TEST_P(NoChildren, IsBlindForOnesForkedInTheMiddle) {
  const auto answers = [](const Launch& launch) {
    Guest guest{launch};
    guest.alloc(3 * kMiB);
    guest.ask("fork");
    const std::string alloc = guest.ask("alloc 1000");
    const std::string free = guest.ask("free 0");
    const std::string end = guest.ask("exit 0");
    guest.finish();
    return alloc.substr(0, 3) + free + end;
  };
  EXPECT_EQ(answers(alone()), answers(native()));

  Guest guest{alone()};
  guest.alloc(3 * kMiB);
  guest.ask("fork");
  guest.ask("alloc 1000");
  expect_one_process(guest, {3 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB});
}

TEST_P(NoChildren, IsBlindForSpawnedOnes) {
  for (const char* way : {"spawn ", "vfork "}) {
    Guest guest{alone()};
    guest.alloc(3 * kMiB);

    guest.write_line(way + GetParam().program);
    guest.alloc(1000);  // the child's

    expect_one_process(guest, {3 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB});
    const Outcome shown = world_.tidemark({"ps"});
    EXPECT_NE(shown.err.find("1 more process has the library, but was told to publish nothing"), std::string::npos)
        << describe(shown);
    EXPECT_EQ(guest.ask("exit 7"), "7") << way;
    guest.free(0);
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0}) << way;
  }
}

TEST_P(NoChildren, FollowsAnExec) {
  Guest guest{alone()};

  guest.write_line("exec " + GetParam().program);
  guest.alloc(1000);

  expect_one_process(guest, {1000, 1024, 1024, 2 * kMiB});
}

// The limit that docs/settings.md names.
TEST_P(NoChildren, TakesAShellInBetweenForTheProgram) {
  Guest guest{alone({"sh", "-c", "\"$0\"; exit $?", GetParam().program})};

  guest.alloc(1000);

  EXPECT_EQ(world_.ps()["processes"].size(), 0u);
  EXPECT_EQ(guest.ask("exit 7"), "");
}

}  // namespace
}  // namespace tidemark::test
