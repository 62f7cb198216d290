// `tidemark run --expect`: what the processes of a run had is judged after its end, and nothing else changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using Words = std::vector<std::string>;

constexpr int kNotAsExpected = 123;

Words expecting(const Words& expectations) {
  Words words;
  for (const std::string& expectation : expectations) words.insert(words.end(), {"--expect", expectation});
  return words;
}

class Expectations : public GuestTest {
 protected:
  [[nodiscard]] Launch launch(Words options, const Words& command) const {
    options.insert(options.begin(), "run");
    options.push_back("--");
    options.insert(options.end(), command.begin(), command.end());
    Launch launch = world_.viewer(std::move(options));
    launch.environment["LD_LIBRARY_PATH"] = simulator_directory();
    launch.environment["TIDEMARK_ALLOC_CONF"] = "large:whole";
    return launch;
  }
  // A guest that does what `input` says.
  [[nodiscard]] Outcome judged(const Words& options, const std::string& input) const {
    Launch guest = launch(options, {GetParam().program});
    guest.input = input;
    return run(guest);
  }
  // "in guest_mtia (pid 4711) on mtia:0", as a regular expression.
  [[nodiscard]] std::string somewhere() const {
    return "in " + fs::path{GetParam().program}.filename().string() + " \\(pid [0-9]+\\) on " + GetParam().device();
  }
};
TIDEMARK_FOR_EVERY_GUEST(Expectations);

TEST_P(Expectations, ThatAreMetLeaveNoTrace) {
  const Outcome outcome = judged(expecting({"peak<=4MiB", "peak==4MiB", "held_peak>0", "live==0", "ooms==0"}),
                                 "alloc 3145728\nfree 0\nexit 0\n");

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(world_.files(), IsEmpty());
}

TEST_P(Expectations, ThatAreNotMetAreToldOneALine) {
  const Outcome outcome = judged(expecting({"peak<4MiB", "live==0", "peak<=1GiB", "held<1"}),
                                 "alloc 3145728\nalloc 1000\nfree 0\nexit 0\n");

  EXPECT_EQ(outcome.exit_code, kNotAsExpected) << describe(outcome);
  EXPECT_THAT(outcome.err,
              MatchesRegex("tidemark: run: expected peak<4MiB, found 4.001 MiB \\(4195328 B\\) " + somewhere() + "\n" +
                           "tidemark: run: expected live==0, found 1 " + somewhere() + "\n" +
                           "tidemark: run: expected held<1, found [0-9.]+ MiB \\([0-9]+ B\\) " + somewhere() + "\n"));
  EXPECT_THAT(world_.files(), IsEmpty());
}

TEST_P(Expectations, KnowAnOutOfMemory) {
  const Outcome outcome = judged(expecting({"ooms==0"}), "alloc 1000\nalloc 1099511627776\nfree 0\nexit 0\n");

  EXPECT_EQ(outcome.exit_code, kNotAsExpected) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("tidemark: run: expected ooms==0, found 1 in "));
  EXPECT_EQ(world_.files().size(), 2u) << "as without an expectation: the process that had one is kept";
}

TEST_P(Expectations, OfNothingAllocatedAreAboutZero) {
  EXPECT_EQ(judged(expecting({"peak<=1KiB", "live==0"}), "exit 0\n"), Outcome{.exit_code = 0});
  EXPECT_EQ(judged(expecting({"peak>1KiB"}), "exit 0\n"),
            (Outcome{.exit_code = kNotAsExpected,
                     .err = "tidemark: run: expected peak>1KiB, found 0 B: nothing was allocated\n"}));
}

TEST_P(Expectations, AreLessThanTheProgramsOwnFailure) {
  const Outcome failed = judged(expecting({"peak==0"}), "alloc 1000\nexit 7\n");
  EXPECT_EQ(failed.exit_code, 7) << describe(failed);
  EXPECT_THAT(failed.err, HasSubstr("expected peak==0, found 1.000 KiB (1024 B) in "));

  const Outcome killed = judged(expecting({"peak==0"}), "alloc 1000\nabort\n");
  EXPECT_EQ(killed.signal, SIGABRT) << describe(killed);
  EXPECT_THAT(killed.err, HasSubstr("expected peak==0, found 1.000 KiB (1024 B) in "));
}

TEST_P(Expectations, LeaveTheFilesThatTheUserWanted) {
  const auto left = [&](Words options, const std::string& input) {
    options.insert(options.end(), {"--expect", "peak<=1GiB"});
    (void)judged(options, input);
    const std::size_t count = world_.files().size();
    (void)world_.tidemark({"gc"});
    return count;
  };
  EXPECT_EQ(left({}, "alloc 1000\nexit 0\n"), 0u);
  EXPECT_EQ(left({"--keep", "all"}, "alloc 1000\nexit 0\n"), 2u);
  EXPECT_EQ(left({}, "alloc 1000\nabort\n"), 2u) << "a killed one's stay";
  EXPECT_EQ(left({"--keep", "none"}, "alloc 1000\nabort\n"), 0u);
}

TEST_P(Expectations, AreAboutAllProcessesOfTheRun) {
  Guest guest{launch(expecting({"peak<=4MiB", "live==0"}), {GetParam().program})};
  guest.alloc(3 * kMiB);
  guest.write_line("spawn " + GetParam().program);
  guest.alloc(1000);       // the child's
  guest.alloc(16 * kMiB);  // and this
  EXPECT_EQ(guest.ask("exit 0"), "0");
  guest.free(0);

  const Outcome outcome = guest.finish();

  EXPECT_EQ(outcome.exit_code, kNotAsExpected) << describe(outcome);
  EXPECT_THAT(outcome.err,
              MatchesRegex("tidemark: run: expected peak<=4MiB, found 16.00 MiB \\(16778240 B\\) " + somewhere() +
                           "\ntidemark: run: expected live==0, found 2 " + somewhere() + "\n"));
  EXPECT_THAT(world_.files(), IsEmpty());
}

// Each process of a run of hundreds would be swept by a viewer that looks on.
TEST_P(Expectations, RememberAProcessWhoseFilesAreGone) {
  Guest guest{launch(expecting({"peak<=4MiB"}), {GetParam().program})};
  guest.write_line("spawn " + GetParam().program);
  guest.alloc(16 * kMiB);  // the child's
  const auto is_held = [&] {
    std::error_code error;
    for (const auto& open : fs::directory_iterator("/proc/" + std::to_string(guest.pid()) + "/fd", error)) {
      if (fs::read_symlink(open.path(), error).parent_path() == world_.directory()) return true;
    }
    return false;
  };
  for (int tries = 0; !is_held() && tries < 6000; ++tries) usleep(10'000);
  ASSERT_TRUE(is_held());
  EXPECT_EQ(guest.ask("exit 0"), "0");
  (void)world_.tidemark({"gc"});
  EXPECT_THAT(world_.files(), IsEmpty());

  const Outcome outcome = guest.finish();

  EXPECT_EQ(outcome.exit_code, kNotAsExpected) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("found 16.00 MiB (16777216 B) in "));
}

TEST_P(Expectations, OfARunInARunAreJudgedByBoth) {
  const auto both = [&](const std::string& outer, const std::string& inner, const std::string& exit) {
    const std::string tidemark = world_.viewer({}).command.front();
    Launch nested = launch(expecting({outer}), {tidemark, "run", "--expect", inner, "--", GetParam().program});
    nested.input = "alloc 3145728\n" + exit;
    const Outcome outcome = run(nested);
    EXPECT_THAT(world_.files(), IsEmpty());
    return outcome;
  };
  EXPECT_EQ(both("peak<=4MiB", "peak<=4MiB", "exit 0\n").exit_code, 0);
  for (const auto& [outer, inner] : {std::pair{"peak<3MiB", "peak<=4MiB"}, {"peak<=4MiB", "peak<3MiB"}}) {
    const Outcome outcome = both(outer, inner, "exit 0\n");
    EXPECT_EQ(outcome.exit_code, kNotAsExpected) << describe(outcome);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << describe(outcome);
  }
}

TEST_P(Expectations, CannotBeJudgedWhereNoSegmentCanBe) {
  Launch nowhere = launch(expecting({"peak<=1GiB"}), {GetParam().program});
  nowhere.environment["TIDEMARK_DIR"] = world_.directory() + "/nowhere";
  nowhere.environment["TIDEMARK_LOG"] = "off";
  nowhere.input = "alloc 1000\nexit 0\n";

  const Outcome outcome = run(nowhere);

  EXPECT_EQ(outcome.exit_code, kNotAsExpected) << describe(outcome);
  EXPECT_EQ(outcome.err, "tidemark: run: expected peak<=1GiB, which nobody can tell: no segment can be made in " +
                             world_.directory() + "/nowhere: it does not exist\n");
}

TEST_P(Expectations, FollowOneProcessWhereItIsAlone) {
  Guest guest{launch({"--no-children", "--expect", "peak<=4MiB"}, {GetParam().program})};
  guest.alloc(3 * kMiB);
  guest.write_line("spawn " + GetParam().program);
  guest.alloc(16 * kMiB);  // the child's
  EXPECT_EQ(guest.ask("exit 0"), "0");

  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

TEST_P(Expectations, AreRefusedWhereNoCountersWouldBeLeft) {
  for (const Words& options : {Words{"--mode", "off"}, {"--shm", "off"}, {"--shm", "memfd"}}) {
    Words with = options;
    with.insert(with.end(), {"--expect", "peak<=1GiB"});
    const Outcome outcome = judged(with, "exit 0\n");
    EXPECT_EQ(outcome.exit_code, 2) << describe(outcome);
    EXPECT_THAT(outcome.err, HasSubstr("there are none"));
  }
}

}  // namespace
}  // namespace tidemark::test
