// The support that runs programs and talks with them.
#include "tests/support/run_program.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace tidemark::test {
namespace {

TEST(RunProgram, KeepsOutputsApartAndTheExitCode) {
  const Outcome outcome = run({.command = {"sh", "-c", "cat; echo problem >&2; exit 3"}, .input = "given\n"});

  EXPECT_EQ(outcome, (Outcome{.exit_code = 3, .out = "given\n", .err = "problem\n"}));
}

TEST(RunProgram, GivesAnEnvironmentOfItsOwn) {
  setenv("RUN_PROGRAM_TEST", "from the test", 1);

  const Outcome outcome = run({.command = {"sh", "-c", "echo $RUN_PROGRAM_TEST $GIVEN $LD_PRELOAD; pwd"},
                               .environment = {{"GIVEN", "by the launch"}},
                               .directory = "/usr"});

  EXPECT_EQ(outcome.out, "by the launch\n/usr\n");
}

TEST(RunProgram, TellsTheSignalThatEndedIt) {
  EXPECT_EQ(run({.command = {"sh", "-c", "kill -9 $$"}}), (Outcome{.signal = SIGKILL}));
}

TEST(RunProgram, SaysThatACommandIsMissing) { EXPECT_EQ(run({.command = {"no-such-program"}}).exit_code, 127); }

TEST(RunProgram, EndsWhatHangs) {
  const Outcome outcome = run({.command = {"sleep", "1000"}}, std::chrono::milliseconds{1});

  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST(Conversation, AnswersLineByLine) {
  Conversation talk{{.command = {"cat"}}};

  EXPECT_EQ(talk.ask("one"), "one");
  EXPECT_EQ(talk.ask("two"), "two");
  EXPECT_EQ(talk.finish(), (Outcome{.exit_code = 0}));
}

TEST(Conversation, NoticesADeadPartner) {
  Conversation talk{{.command = {"cat"}}};
  talk.signal(SIGKILL);

  EXPECT_EQ(talk.ask("anybody there?"), "");
  EXPECT_EQ(talk.finish().signal, SIGKILL);
}

TEST(Conversation, LeavesNoProcessBehind) {
  pid_t pid = 0;
  {
    const Conversation talk{{.command = {"cat"}}};
    pid = talk.pid();
  }

  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace tidemark::test
