// `tidemark run --expect` as a program: what passes through the parent that it is then.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// With an expectation the program is a child. All else is the same.
class RunningExpected : public testing::Test {
 protected:
  [[nodiscard]] Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--expect", "ooms==0"});
    return tree_.run(std::move(words), {{"TIDEMARK_DIR", tree_.base().string()}});
  }
  [[nodiscard]] Launch launch(const std::string& script) const {
    return {.command = {tree_.tidemark(), "run", "--expect", "ooms==0", "sh", "-c", script},
            .environment = {{"XDG_RUNTIME_DIR", tree_.base().string()},
                            {"TIDEMARK_DIR", tree_.base().string()},
                            {"ASAN_OPTIONS", "verify_asan_link_order=0"}}};
  }

  const LaunchTree tree_;
};

TEST_F(RunningExpected, HandsTheEndOn) {
  for (const int code : {0, 1, 42, 123, 125}) {
    EXPECT_EQ(run({"--", "sh", "-c", "exit " + std::to_string(code)}), Outcome{.exit_code = code});
  }
  for (const int number : {SIGKILL, SIGTERM, SIGINT, SIGUSR1}) {
    EXPECT_EQ(run({"sh", "-c", "kill -" + std::to_string(number) + " $$"}).signal, number);
  }
  EXPECT_EQ(run({"--", "printf", "%s.", "--help", "--", "x", ""}).out, "--help.--.x..");
}

TEST_F(RunningExpected, SaysWhatIsMissing) {
  EXPECT_EQ(run({"no-such-program-here"}),
            (Outcome{.exit_code = 127, .err = "tidemark: run: no program 'no-such-program-here' in PATH\n"}));
  const std::string script = tree_.write("missing", "#!/no/such/sh\n");
  EXPECT_EQ(run({script}),
            (Outcome{.exit_code = 127,
                     .err = "tidemark: run: " + script +
                            ": its first line names the interpreter /no/such/sh, which is not there\n"}));
  EXPECT_EQ(run({tree_.write("script", "echo \"$1\"\n"), "word"}).out, "word\n");
}

TEST_F(RunningExpected, TouchesNoSignalDispositionOfTheProgram) {
  const std::string show = "grep -E 'Sig(Ign|Blk)' /proc/self/status";
  const auto trapped = [&](const std::string& what) {
    return test::run(
        {.command = {"sh", "-c", "trap '' PIPE INT CHLD; exec " + what, tree_.tidemark()},
         .environment = {{"TIDEMARK_DIR", tree_.base().string()}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}}});
  };
  const Outcome native = trapped(show);
  ASSERT_EQ(native.exit_code, 0);
  EXPECT_EQ(trapped("\"$0\" run --expect ooms==0 " + show), native);
}

TEST_F(RunningExpected, HandsSignalsOn) {
  for (const char* name : {"TERM", "HUP", "USR1", "USR2", "CONT"}) {
    const std::map<std::string, int> numbers{
        {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"CONT", SIGCONT}};
    Conversation program{launch("trap 'exit 5' " + std::string{name} + "; echo ready; while :; do sleep 0.02; done")};
    EXPECT_EQ(program.read_line(), "ready");

    EXPECT_EQ(program.end_by(numbers.at(name)), Outcome{.exit_code = 5}) << name;
  }
}

// The terminal sends them to the program itself.
TEST_F(RunningExpected, LeavesTheTerminalsSignalsToTheProgram) {
  Conversation program{
      launch("trap 'echo interrupted' INT QUIT; trap 'exit 5' TERM; echo ready; "
             "while :; do sleep 0.02; done")};
  EXPECT_EQ(program.read_line(), "ready");

  program.signal(SIGINT);
  program.signal(SIGQUIT);

  EXPECT_EQ(program.end_by(SIGTERM), Outcome{.exit_code = 5});
}

TEST_F(RunningExpected, CannotJudgeWhatIsNotTracked) {
  const std::string sudo = tree_.write("sudo", "#!/bin/sh\nexit 0\n");

  const Outcome outcome = run({"-q", sudo, "./train"});

  EXPECT_EQ(outcome.exit_code, 123) << describe(outcome);
  EXPECT_EQ(outcome.err,
            "tidemark: run: expected ooms==0, which nobody can tell: sudo drops LD_PRELOAD; put it in front instead: "
            "sudo ... tidemark run -- CMD\n");
  const Outcome fixed = run({"-q", TIDEMARK_TEST_STATIC_PROGRAM});
  EXPECT_EQ(fixed.exit_code, 7);
  EXPECT_THAT(fixed.err, HasSubstr("which nobody can tell: " TIDEMARK_TEST_STATIC_PROGRAM " is statically linked"));
}

// Before anything starts.
TEST_F(RunningExpected, RefusesWhatItDoesNotUnderstand) {
  const std::string mark = (tree_.base() / "started").string();

  const Outcome outcome = run({"--expect", "peak=1G", "touch", mark});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("allowed: peak, held_peak or held with a size"));
  EXPECT_FALSE(fs::exists(mark));
}

}  // namespace
}  // namespace tidemark::test
