// `tidemark run` as a program: what it hands on, what it explains, how it ends.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

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

// Both simulated drivers lie there: without this a program that takes what there is took CUDA.
TEST(Running, SimulatingMtiaLeavesTheSimulatedCudaWithoutADevice) {
  const LaunchTree tree;

  EXPECT_THAT(tree.run({"--simulate", "mtia", "env"}).out, HasSubstr("\nCUDA_SIM_DEVICES=0\n"));
  EXPECT_THAT(tree.run({"--simulate", "mtia", "env"}, {{"CUDA_SIM_DEVICES", "3"}}).out,
              HasSubstr("CUDA_SIM_DEVICES=3\n"));
  EXPECT_THAT(tree.run({"--simulate", "cuda", "env"}).out, Not(HasSubstr("_SIM_DEVICES")));
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

TEST(Running, NamesTheProcessThatIsAlone) {
  const LaunchTree tree;
  const std::string tell = "echo \"${TIDEMARK_ONLY_PID-all} is $$\"; true";
  const auto is_own = [](const Outcome& outcome) {
    const std::size_t middle = outcome.out.find(" is ");
    return middle != 0 && outcome.out == outcome.out.substr(0, middle) + " is " + outcome.out.substr(0, middle) + "\n";
  };

  EXPECT_THAT(tree.run({"sh", "-c", tell}).out, StartsWith("all is "));
  const Outcome alone = tree.run({"--no-children", "sh", "-c", tell});
  EXPECT_TRUE(is_own(alone)) << describe(alone);

  // In a child of the one that is alone: a program that was started on purpose.
  const std::string inside = "'" + tree.tidemark() + "' run $0 sh -c '" + tell + "'; true";
  EXPECT_THAT(tree.run({"--no-children", "sh", "-c", inside, ""}).out, StartsWith("all is "));
  const Outcome both = tree.run({"--no-children", "sh", "-c", inside, "--no-children"});
  EXPECT_TRUE(is_own(both)) << describe(both);
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

TEST(Running, ExplainsASetuidProgramAndRunsIt) {
  const LaunchTree tree;
  const std::string program = (tree.base() / "my prog").string();
  fs::copy_file("/bin/false", program);
  struct statvfs system {};
  if (geteuid() != 0 || chown(program.c_str(), 65534, 0) != 0 || chmod(program.c_str(), 04755) != 0 ||
      statvfs(program.c_str(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0) {
    GTEST_SKIP() << "needs root, and a file system without nosuid";
  }
  fs::permissions(tree.base(), fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);

  const Outcome outcome = tree.run({program});

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "tidemark: " + program + " is setuid, and the loader ignores LD_PRELOAD there; it starts untracked\n");
}

TEST(Running, TakesBlanksInEveryPath) {
  const LaunchTree tree("a tree");
  const std::string program = tree.write("my prog", "#!/bin/sh\necho \"$1\"; pwd\n");
  const fs::path place = tree.base() / "my place";
  fs::create_directory(place);

  const Outcome outcome = run({.command = {tree.tidemark(), "run", "--dir", place.string(), "--log-file",
                                           (place / "my log").string(), "--", program, "one word"},
                               .environment = {{"XDG_RUNTIME_DIR", tree.base().string()}},
                               .directory = place.string()});

  EXPECT_EQ(outcome, (Outcome{.exit_code = 0, .out = "one word\n" + place.string() + "\n"}));
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

// It said "No such file or directory" of a file that was there.
TEST(Running, SaysWhichInterpreterIsMissing) {
  const LaunchTree tree;
  const std::string missing = tree.write("missing", "#! /no/such/sh -e\necho\n");
  const std::string dos = tree.write("dos", "#!/bin/sh\r\necho\r\n");
  const std::string text = tree.write("text", "#!" + tree.write("plain", "text", 0644) + "\n");

  const Outcome outcome = tree.run({missing});
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_EQ(outcome.err,
            "tidemark: run: " + missing + ": its first line names the interpreter /no/such/sh, which is not there\n");
  EXPECT_THAT(tree.run({dos}).err, HasSubstr("its lines end in carriage returns"));
  EXPECT_EQ(tree.run({text}).exit_code, 126);
  EXPECT_THAT(tree.run({text}).err, HasSubstr("plain, which cannot be run (Permission denied)"));
}

TEST(Running, TouchesNoSignalDisposition) {
  const LaunchTree tree;
  const Outcome outcome = run(
      {.command = {"sh", "-c", "trap '' PIPE INT; exec \"$0\" run grep SigIgn /proc/self/status", tree.tidemark()}});
  const Outcome native = run({.command = {"sh", "-c", "trap '' PIPE INT; exec grep SigIgn /proc/self/status"}});
  EXPECT_EQ(outcome.out, native.out);
}

TEST(Running, WarnsOfARuntimeThatRefusesTheSimulator) {
  const LaunchTree tree;
  const std::string program = (tree.base() / "train").string();
  fs::copy_file("/bin/true", program);
  std::ofstream(program, std::ios::app | std::ios::binary) << std::string_view{"libcuda.so.1\0/cudart.shm.%x.%x\0", 31};

  const Outcome outcome = tree.run({"--simulate", "cuda", program});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_EQ(outcome.err, "tidemark: " + program +
                             " has NVIDIA's CUDA runtime linked into it, which accepts no driver but NVIDIA's own: it "
                             "won't run on the simulated one; link it with nvcc -cudart shared\n");
  EXPECT_EQ(tree.run({program}).err, "");
  EXPECT_EQ(tree.run({"--simulate", "mtia", program}).err, "");
  EXPECT_EQ(tree.run({"--simulate", "cuda", "/bin/true"}).err, "");
}

}  // namespace
}  // namespace tidemark::test
