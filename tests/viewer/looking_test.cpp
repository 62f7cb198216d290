// ps and show as programs: real segments of living and dead processes, damaged files, other users, odd
// surroundings.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Looking : public testing::Test {
 protected:
  [[nodiscard]] Outcome tidemark(std::vector<std::string> words) const { return world_.tidemark(std::move(words)); }
  // A shell line in which $T is the viewer.
  [[nodiscard]] Outcome shell(const std::string& line) const {
    Launch launch = world_.viewer({});
    launch.environment["T"] = launch.command[0];
    launch.command = {"sh", "-c", line};
    return run(launch);
  }

  ShimWorld world_;
};
using Ps = Looking;
using Show = Looking;
using Directories = Looking;
using Surroundings = Looking;
using WrongInput = Looking;

TEST_F(Ps, ShowsTheLivingAndTheDead) {
  FakeProcess live(world_, {"label=job 1"});
  FakeProcess exited(world_);
  FakeProcess killed(world_);
  exited.exit();
  killed.kill();

  const Outcome outcome = tidemark({"ps"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.out, StartsWith("ID "));
  EXPECT_THAT(outcome.out,
              testing::ContainsRegex(
                  live.id() + " +" + live.pid() +
                  "  cuda:0  live +100.0 MiB  300.0 MiB  400.0 MiB  300.0 MiB  400.0 MiB  80.0  job 1: fake\n"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex(live.id() + " +" + live.pid() + "  mtia:0  live"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex(exited.id() + " +" + exited.pid() + "  cuda:0  exited"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex(killed.id() + " +" + killed.pid() + "  cuda:0  killed"));
}

TEST_F(Ps, OfNothingIsATitleAndAHint) {
  const Outcome outcome = tidemark({"ps"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("ID "));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
  EXPECT_THAT(outcome.err, HasSubstr("tidemark: "));
  EXPECT_THAT(tidemark({"ps", "-q"}).err, IsEmpty());
}

TEST_F(Ps, WithoutATerminalIsWhatNoArgumentsMean) {
  FakeProcess live(world_);

  EXPECT_EQ(tidemark({}).out, tidemark({"ps"}).out);
  EXPECT_EQ(tidemark({"top"}).out, tidemark({"ps"}).out);
}

TEST_F(Ps, AsJsonIsOneDocumentWithNothingElse) {
  FakeProcess live(world_);

  const Outcome outcome = tidemark({"ps", "--json"});

  EXPECT_EQ(outcome.err, "");
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document.at("processes").size(), 1U);
  EXPECT_EQ(document.at("processes").at(0).at("pid"), std::stoi(live.pid()));
  EXPECT_EQ(document.at("processes").at(0).at("uid"), geteuid());
  EXPECT_EQ(document.at("devices").size(), 2U);
  EXPECT_EQ(stat_of(document.at("processes").at(0).at("devices").at(0), "allocated_bytes.all.peak"), 300U << 20);
}

// The viewer counted itself, and whoever will never have a segment to be seen here.
TEST_F(Ps, CountsWhoHasTheLibraryAndMayStillAllocate) {
  const LaunchTree tree;
  const auto cat_in = [&](const std::string& directory) {
    return Launch{
        .command = {"cat"}, .environment = {{"TIDEMARK_DIR", directory}}, .preload = {tree.library()}, .input = {}};
  };
  Launch silent = cat_in(world_.directory());
  silent.environment["TIDEMARK_SHM"] = "off";
  Conversation waiting(cat_in(world_.directory()));
  Conversation off(silent);
  Conversation far(cat_in(tree.base()));
  for (Conversation* cat : {&waiting, &off, &far}) {
    EXPECT_EQ(cat->ask("it runs"), "it runs");
  }
  Launch viewer = world_.viewer({"ps"});
  viewer.preload = {tree.library()};
  viewer.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0";

  const Outcome outcome = run(viewer);

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.err, StartsWith("tidemark: 1 more process has the library and no allocation yet\n"));
  EXPECT_THAT(outcome.err, HasSubstr("the library, but was told to publish nothing"));
  EXPECT_THAT(outcome.err, HasSubstr("the library and another TIDEMARK_DIR ("));
}

TEST_F(Ps, OfTargetsShowsThemAlone) {
  FakeProcess one(world_, {"label=one"});
  FakeProcess two(world_);

  const Outcome outcome = tidemark({"ps", "one"});

  EXPECT_THAT(outcome.out, HasSubstr(one.id()));
  EXPECT_THAT(outcome.out, Not(HasSubstr(two.id())));
  EXPECT_EQ(tidemark({"ps", "three"}).exit_code, 3);
}

TEST_F(Ps, LooksAgainAsOftenAsAsked) {
  FakeProcess live(world_);

  const Outcome text = tidemark({"ps", "--watch", "0.1", "--count", "2", "--tree"});
  const Outcome documents = tidemark({"ps", "--json", "-w", "0.1", "-n", "3"});
  const Outcome records = tidemark({"ps", "--csv", "--watch", "100ms", "--count", "2"});

  EXPECT_THAT(text.out, testing::ContainsRegex("^..:..:..\nID (.*\n)+\n..:..:..\nID "));
  std::istringstream lines(documents.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(json::parse(line).at("processes").at(0).at("id"), live.id());
  }
  EXPECT_EQ(count, 3);
  EXPECT_THAT(records.out, StartsWith("time,id,pid,device,"));
  EXPECT_EQ(std::count(records.out.begin(), records.out.end(), '\n'), 5) << records.out;
  EXPECT_EQ(records.out.find("time,", 1), std::string::npos);
}

TEST_F(Ps, LooksIntoFurtherDirectories) {
  const ShimWorld elsewhere;
  FakeProcess here(world_);
  FakeProcess there(elsewhere);

  EXPECT_THAT(tidemark({"ps", "--dir", elsewhere.directory()}).out,
              testing::AllOf(HasSubstr(here.id()), HasSubstr(there.id())));
  EXPECT_THAT(tidemark({"--dir", elsewhere.directory(), "ps"}).out, HasSubstr(there.id()));
  EXPECT_THAT(tidemark({"ps", "--dir", world_.directory(), "--csv"}).out, HasSubstr(here.id()));
  EXPECT_EQ(tidemark({"ps", "--dir", "/no/such/dir"}).exit_code, 2);
}

TEST_F(Directories, GivenOnTheCommandLineHaveToBeThere) {
  const std::string file = world_.directory() + "/file";
  std::ofstream(file) << "text";

  const Outcome missing = tidemark({"ps", "--dir", "/no/such/dir"});
  const Outcome no_directory = tidemark({"gc", "--dir", file});

  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err, "tidemark: --dir '/no/such/dir' does not exist\n");
  EXPECT_EQ(no_directory.exit_code, 2);
  EXPECT_EQ(no_directory.err, "tidemark: --dir '" + file + "' is not a directory\n");
}

// The viewer said nothing at all, and showed nothing.
TEST_F(Directories, OfTheEnvironmentAreMissedAloud) {
  const std::string file = world_.directory() + "/file";
  std::ofstream(file) << "text";
  const auto with_directory = [&](const std::string& directory, std::vector<std::string> words) {
    Launch launch = world_.viewer(std::move(words));
    launch.environment["TIDEMARK_DIR"] = directory;
    return run(launch);
  };

  const Outcome missing = with_directory("/no/such/dir", {"ps", "--json"});
  EXPECT_EQ(missing.exit_code, 0) << "an empty list is success";
  EXPECT_EQ(missing.err, "tidemark: TIDEMARK_DIR '/no/such/dir' does not exist; no segment is found there\n");
  EXPECT_EQ(json::parse(missing.out).at("processes").size(), 0U);
  EXPECT_EQ(with_directory("/no/such/dir", {"ps", "--json", "-q"}).err, "");
  EXPECT_THAT(with_directory(file, {"gc"}).err, HasSubstr("TIDEMARK_DIR '" + file + "' is not a directory"));
  EXPECT_THAT(with_directory("relative", {"ps"}).err,
              StartsWith("tidemark: TIDEMARK_DIR 'relative' has to be an absolute path; "));
  EXPECT_EQ(with_directory("/no/such/dir", {"show", "1"}).exit_code, 3);
}

TEST_F(Directories, ThatAreRelativeAreNotLookedInto) {
  FakeProcess live(world_);
  Launch launch = world_.viewer({"ps"});
  launch.directory = fs::path{world_.directory()}.parent_path();
  launch.environment["TIDEMARK_DIR"] = fs::path{world_.directory()}.filename();

  EXPECT_THAT(run(launch).out, Not(HasSubstr(live.id()))) << "the program that is given it refuses it";
}

TEST_F(Show, FindsAProcessByPidIdAndLabel) {
  FakeProcess live(world_, {"label=a job"});
  for (const std::string& target : {live.pid(), live.id(), std::string{"a job"}}) {
    const Outcome outcome = tidemark({"show", target});
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    EXPECT_THAT(outcome.out, StartsWith("a job: fake\n  pid " + live.pid()));
    EXPECT_THAT(outcome.out, HasSubstr("= held"));
  }
  EXPECT_EQ(json::parse(tidemark({"show", live.pid(), "--json"}).out).at("id"), live.id());
}

TEST_F(Show, StillTellsTheLastNumbersOfADeadProcess) {
  FakeProcess killed(world_);
  killed.kill();

  const Outcome outcome = tidemark({"show", killed.id()});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("killed"));
  EXPECT_THAT(outcome.out, HasSubstr("104,857,600"));
}

TEST_F(WrongInput, IsOneLineAndCodeTwo) {
  const std::vector<std::vector<std::string>> cases{{"pss"},
                                                    {"ps", "--jsn"},
                                                    {"ps", "--json", "--csv"},
                                                    {"ps", "--json", "--tree"},
                                                    {"ps", "--watch", "0"},
                                                    {"ps", "--count", "2"},
                                                    {"ps", "--watch", "1", "--count", "0"},
                                                    {"show"},
                                                    {"show", "a", "b"},
                                                    {"gc", "x"},
                                                    {"reset-peak"},
                                                    {"reset-peak", "1", "--all"},
                                                    {"--nope"},
                                                    {"help", "nothing"},
                                                    {"empty-cache", "1", "--timeout", "never"},
                                                    {"top", "-i", "0"},
                                                    {"top", "-i", "2h"},
                                                    {"run"},
                                                    {"run", "--label", "--", "true"},
                                                    {"run", "--mode", "--label", "x", "true"},
                                                    {"--dir", "--", "ps"},
                                                    {"run", "--limit", "much", "true"}};
  for (const auto& words : cases) {
    const Outcome outcome = tidemark(words);
    EXPECT_EQ(outcome.exit_code, 2) << describe(outcome);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, StartsWith("tidemark: "));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(WrongInput, NamesThatNothingHasAreNotFound) {
  for (const char* command : {"show", "reset-peak", "empty-cache", "reset-accumulated", "ps"}) {
    const Outcome outcome = tidemark({command, "4000000"});
    EXPECT_EQ(outcome.exit_code, 3) << describe(outcome);
    EXPECT_EQ(outcome.err,
              "tidemark: no process '4000000' (a pid, an id or a label); 'tidemark ps' lists what there is\n");
  }
}

TEST_F(WrongInput, AnAmbiguousLabelIsListed) {
  FakeProcess one(world_, {"label=same"});
  FakeProcess two(world_, {"label=same"});

  const Outcome outcome = tidemark({"show", "same"});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::AllOf(HasSubstr(one.id()), HasSubstr(two.id())));
}

TEST_F(WrongInput, DamagedAndForeignFilesAreToldAndSkipped) {
  FakeProcess live(world_);
  FakeProcess cut(world_);
  cut.kill();
  ASSERT_EQ(chmod(cut.path().c_str(), 0600), 0);
  fs::resize_file(cut.path(), 100);
  const std::string foreign = world_.directory() + "/tidemark.0.77.0123456789abcdef";
  std::ofstream(foreign) << "no segment";
  std::ofstream(world_.directory() + "/something else") << "x";
  fs::create_symlink("/etc/passwd", world_.directory() + "/tidemark.0.78.0123456789abcdee");
  fs::create_directory(world_.directory() + "/tidemark.0.79.0123456789abcded");

  const Outcome outcome = tidemark({"ps"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.out, HasSubstr(live.id()));
  EXPECT_THAT(outcome.err, HasSubstr("tidemark: " + cut.path() + ": "));
  EXPECT_THAT(outcome.err, HasSubstr("tidemark: " + foreign + ": "));
  EXPECT_EQ(tidemark({"show", "77"}).exit_code, 3);
  EXPECT_EQ(json::parse(tidemark({"ps", "--json"}).out).at("processes").size(), 1U);
}

TEST_F(WrongInput, AnotherUsersProcessIsListedButNotReadable) {
  FakeProcess live(world_);
  ASSERT_EQ(chmod(world_.directory().c_str(), 0755), 0);
  Launch launch = world_.viewer({"ps"});
  const std::vector<std::string> nobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  launch.command.insert(launch.command.begin(), nobody.begin(), nobody.end());
  const auto as_nobody = [&](std::vector<std::string> words) {
    Launch other = launch;
    other.command.resize(nobody.size() + 1);
    other.command.insert(other.command.end(), words.begin(), words.end());
    return run(other);
  };
  if (geteuid() != 0 || as_nobody({"--version"}).exit_code != 0) {
    GTEST_SKIP() << "needs root, and a build that others can run";
  }

  const Outcome listed = as_nobody({"ps"});
  EXPECT_EQ(listed.exit_code, 0) << describe(listed);
  EXPECT_THAT(listed.out, testing::ContainsRegex(live.id() + " +" + live.pid() + "  - +unreadable"));
  EXPECT_THAT(listed.err, HasSubstr("1 of other users not readable"));
  EXPECT_EQ(json::parse(as_nobody({"ps", "--json"}).out).at("processes").at(0).at("state"), "unreadable");
  const Outcome refused = as_nobody({"reset-peak", live.pid()});
  EXPECT_EQ(refused.exit_code, 4) << describe(refused);
  EXPECT_THAT(refused.err, HasSubstr("belongs to user 0"));

  FakeProcess open(world_, {"access=all"});
  EXPECT_EQ(as_nobody({"show", open.pid()}).exit_code, 0);
  const Outcome denied = as_nobody({"reset-peak", open.pid()});
  EXPECT_EQ(denied.exit_code, 4) << describe(denied);
  EXPECT_THAT(denied.err, HasSubstr("owner and root"));
}

TEST_F(Surroundings, APipeThatClosesIsNoError) {
  FakeProcess live(world_);
  EXPECT_EQ(shell("\"$T\" ps --json | head -c 1").err, "");
  EXPECT_EQ(shell("\"$T\" help run | head -1").err, "");
}

TEST_F(Surroundings, NeedNoTerminalLocaleOrStdin) {
  FakeProcess live(world_, {"label=größe"});
  EXPECT_THAT(shell("LC_ALL=C TERM= \"$T\" ps <&-").out, HasSubstr("gr??e: fake"));
  EXPECT_THAT(shell("LC_ALL=C.UTF-8 \"$T\" ps <&-").out, HasSubstr("größe: fake"));
  EXPECT_THAT(shell("LC_ALL=de_DE.UTF-8 \"$T\" ps --json").out, HasSubstr("\"schema\":1"));
  EXPECT_EQ(shell("env -u TERM \"$T\" top").exit_code, 0);
}

// Each process that is shown takes a descriptor.
TEST_F(Surroundings, LimitOnFilesIsRaisedAsFarAsItMayBe) {
  std::vector<std::unique_ptr<FakeProcess>> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(std::make_unique<FakeProcess>(world_));
  }

  const Outcome outcome = shell("ulimit -S -n 16; \"$T\" ps --json");

  EXPECT_EQ(json::parse(outcome.out).at("processes").size(), 20U) << outcome.err;
}

TEST_F(Surroundings, OutputThatGoesNowhereIsAFailure) {
  const Outcome outcome = shell("\"$T\" -q ps > /dev/full");

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "tidemark: cannot write the output: No space left on device\n");
  for (const char* large : {"ps --json", "completion bash", "help"}) {
    const std::array<FakeProcess, 3> some{FakeProcess{world_}, FakeProcess{world_}, FakeProcess{world_}};
    const Outcome failed = shell("\"$T\" -q " + std::string{large} + " > /dev/full");
    EXPECT_EQ(failed.exit_code, 1) << large;
    EXPECT_EQ(failed.err, "tidemark: cannot write the output: No space left on device\n") << large;
  }
}

TEST_F(Surroundings, HelpAndVersionGoToStdout) {
  for (const char* line : {"\"$T\" help", "\"$T\" --help", "\"$T\" -h", "\"$T\" ps --help", "\"$T\" help ps",
                           "\"$T\" --version", "\"$T\" run --help"}) {
    const Outcome outcome = shell(line);
    EXPECT_EQ(outcome.exit_code, 0) << line;
    EXPECT_NE(outcome.out, "") << line;
    EXPECT_EQ(outcome.err, "") << line;
  }
}

}  // namespace
}  // namespace tidemark::test
