// `tidemark run` as a program: what it hands on, what it explains, how it ends.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Running, HandsTheExitCodeOn) {
  const LaunchTree tree;
  for (const int code : {0, 1, 42, 125}) {
    const Outcome outcome = tree.run({"--", "sh", "-c", "exit " + std::to_string(code)});
    EXPECT_EQ(outcome.exit_code, code) << describe(outcome);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Running, DiesByTheProgramsOwnSignal) {
  const LaunchTree tree;
  EXPECT_EQ(tree.run({"sh", "-c", "kill -KILL $$"}).signal, SIGKILL);
  EXPECT_EQ(tree.run({"sh", "-c", "kill -TERM $$"}).signal, SIGTERM);
}

TEST(Running, TakesNoOptionOfTheProgramForItsOwn) {
  const LaunchTree tree;
  EXPECT_EQ(tree.run({"--label", "x", "--", "printf", "%s.", "--help", "--", "x", ""}).out, "--help.--.x..");
  EXPECT_EQ(tree.run({"--label", "x", "printf", "%s.", "--version", "--", "-q"}).out, "--version.--.-q.");
}

TEST(Running, SetsWhatWasAskedForAndNothingElse) {
  const LaunchTree tree;

  const Outcome outcome =
      tree.run({"--mode", "count", "--limit=8GiB", "--label", "two words", "env"}, {{"MINE", "kept"}});

  EXPECT_THAT(outcome.out, HasSubstr("TIDEMARK_MODE=count\n"));
  EXPECT_THAT(outcome.out, HasSubstr("TIDEMARK_LIMIT=8GiB\n"));
  EXPECT_THAT(outcome.out, HasSubstr("TIDEMARK_LABEL=two words\n"));
  EXPECT_THAT(outcome.out, HasSubstr("MINE=kept\n"));
  EXPECT_THAT(outcome.out, HasSubstr("LD_PRELOAD=" + tree.library() + "\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("LD_LIBRARY_PATH")));
}

TEST(Running, LoadsTheLibraryIntoTheProgram) {
  const LaunchTree tree;
  EXPECT_THAT(tree.run({"cat", "/proc/self/maps"}).out, HasSubstr(tree.library()));
}

TEST(Running, WorksFromAPathThatTheLoaderCannotRead) {
  const LaunchTree tree("has space:and $colon");

  const Outcome outcome = tree.run({"cat", "/proc/self/maps"});

  EXPECT_THAT(outcome.out, HasSubstr(tree.library()));
  EXPECT_EQ(outcome.err, "");
}

TEST(Running, SimulatesByPuttingTheSimulatorInFront) {
  const LaunchTree tree;

  const Outcome outcome = tree.run({"--simulate", "mtia", "env"}, {{"LD_LIBRARY_PATH", "/mine"}});

  EXPECT_THAT(outcome.out, HasSubstr("LD_LIBRARY_PATH=" + tree.simulator() + ":/mine\n"));
}

TEST(Running, KeepsWhatIsPreloadedAlready) {
  const LaunchTree tree;
  const std::string other = (tree.base() / "libother.so").string();
  fs::copy_file(tree.library(), other);

  const Outcome outcome = tree.run({"env"}, {{"LD_PRELOAD", other}});

  EXPECT_THAT(outcome.out, HasSubstr("LD_PRELOAD=" + tree.library() + ":" + other + "\n"));
}

TEST(Running, InsideItselfPreloadsOnce) {
  const LaunchTree tree;

  const Outcome outcome = tree.run({"--label", "outer", tree.tidemark(), "run", "--label", "inner", "env"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("TIDEMARK_LABEL=inner\n"));
  EXPECT_EQ(outcome.out.find(tree.library(), outcome.out.find(tree.library()) + 1), std::string::npos) << outcome.out;
}

TEST(Running, SaysWhatIsMissing) {
  const LaunchTree tree;
  const Outcome missing = tree.run({"no-such-program-here"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(missing.err, "tidemark: run: no program 'no-such-program-here' in PATH\n");

  const Outcome plain = tree.run({tree.write("plain", "text", 0644)});
  EXPECT_EQ(plain.exit_code, 126);
  EXPECT_THAT(plain.err, HasSubstr("not executable"));

  const Outcome directory = tree.run({"/tmp/"});
  EXPECT_EQ(directory.exit_code, 126);

  fs::remove(tree.library());
  const Outcome incomplete = tree.run({"true"});
  EXPECT_EQ(incomplete.exit_code, 125);
  EXPECT_THAT(incomplete.err, HasSubstr("libtidemark.so not found"));
}

TEST(Running, ExplainsAStaticProgramAndRunsIt) {
  const LaunchTree tree;

  const Outcome outcome = tree.run({TIDEMARK_TEST_STATIC_PROGRAM});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err,
              testing::AllOf(StartsWith("tidemark: "), HasSubstr("statically linked"), HasSubstr("untracked")));

  EXPECT_EQ(tree.run({"-q", TIDEMARK_TEST_STATIC_PROGRAM}).err, "");
  const Outcome strict = tree.run({"--strict", TIDEMARK_TEST_STATIC_PROGRAM});
  EXPECT_EQ(strict.exit_code, 125);
  EXPECT_THAT(strict.err, HasSubstr("not started"));
}

TEST(Running, ExplainsLaunchersThatDropTheEnvironment) {
  const LaunchTree tree;
  const std::string sudo = tree.write("sudo", "#!/bin/sh\nexit 3\n");

  const Outcome outcome = tree.run({sudo, "./train"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("sudo drops LD_PRELOAD"));
}

TEST(Running, GivesAScriptWithoutInterpreterLineToTheShell) {
  const LaunchTree tree;
  EXPECT_EQ(tree.run({tree.write("script", "echo \"$0 $1\"\n"), "word"}).out,
            (tree.base() / "script").string() + " word\n");
}

TEST(Running, TouchesNoSignalDisposition) {
  const LaunchTree tree;
  const Outcome outcome = run(
      {.command = {"sh", "-c", "trap '' PIPE INT; exec \"$0\" run grep SigIgn /proc/self/status", tree.tidemark()}});
  const Outcome native = run({.command = {"sh", "-c", "trap '' PIPE INT; exec grep SigIgn /proc/self/status"}});
  EXPECT_EQ(outcome.out, native.out);
}

}  // namespace
}  // namespace tidemark::test
