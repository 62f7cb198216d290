// The completion scripts of zsh and fish in their shells: what a tab offers behind a line.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace tidemark::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

// A program with an option of its own, which both shells are told of.
constexpr const char* kZshPreface =
    "_train() { _arguments '--epochs[how often]' '*:file:_files' }\ncompdef _train train\n";
constexpr const char* kFishPreface = "complete -c train -l epochs -d 'how often'\n";

class CompletionOf : public testing::TestWithParam<std::string> {
 protected:
  CompletionOf() : home_(std::filesystem::path{world_.directory()} / "home") {
    std::filesystem::create_directory(home_);
    if (run({.command = {"sh", "-c", "command -v " + GetParam()}}).exit_code != 0) {
      is_here_ = false;
    }
  }
  void SetUp() override {
    if (!is_here_) {
      GTEST_SKIP() << GetParam() << " is not here to read its script";
    }
  }

  // What the shell offers behind each of these lines of `tidemark`. A completion is asked in the shell itself, which
  // finds the viewer by its PATH.
  [[nodiscard]] std::map<std::string, Words> offered(const Words& lines) const {
    Launch launch = world_.viewer({"completion", GetParam()});
    const std::filesystem::path viewer = launch.command.front();
    const Outcome printed = run(launch);
    EXPECT_EQ(printed.exit_code, 0) << describe(printed);
    const std::string script = (home_ / "script").string();
    std::ofstream(script) << printed.out << (is_zsh() ? kZshPreface : kFishPreface);

    launch.command =
        is_zsh() ? Words{"zsh", "-f", TIDEMARK_TEST_OFFERED_BY_ZSH, script}
                 : Words{"fish", "--no-config", "-c",
                         "source $argv[1]; for line in $argv[2..]; echo \"> $line\"; complete -C $line; end", script};
    for (const std::string& line : lines) {
      launch.command.push_back("tidemark " + line);
    }
    launch.environment["HOME"] = home_.string();
    launch.environment["TERM"] = "xterm";
    launch.environment["PATH"] = viewer.parent_path().string() + ":/usr/bin:/bin";
    const Outcome outcome = run(launch);
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    EXPECT_EQ(outcome.err, "");
    return by_line(outcome.out);
  }

  ShimWorld world_;

 private:
  [[nodiscard]] static bool is_zsh() { return GetParam() == "zsh"; }

  [[nodiscard]] static std::map<std::string, Words> by_line(const std::string& text) {
    constexpr std::string_view kLine = "> tidemark ";
    std::map<std::string, Words> found;
    std::string line;
    std::istringstream lines(text);
    for (std::string word; std::getline(lines, word);) {
      if (word.starts_with(kLine)) {
        line = word.substr(kLine.size());
        found[line];
      } else {
        // zsh leaves away the directory of a file, fish puts the meaning behind a tab.
        word = word.substr(0, word.find('\t'));
        found[line].push_back(word.starts_with('/') ? word.substr(word.rfind('/') + 1) : word);
      }
    }
    return found;
  }

  std::filesystem::path home_;
  bool is_here_ = true;
};

TEST_P(CompletionOf, OffersCommandsOptionsValuesAndTargets) {
  FakeProcess live(world_, {"label=nightly:3"});
  FakeProcess dead(world_);
  dead.kill();

  auto words = offered({"", "res", "--dir /tmp sh", "help to", "completion ", "ps --", "run --mode ", "run --mode=c",
                        "run --simulate m", "run --label ", "reset-peak ", "show ", "snapshot /etc/pass", "record ",
                        "record start ", "limit 4711 n", "gc ", "report a --html /etc/pass"});

  EXPECT_THAT(words[""], IsSupersetOf({"run", "ps", "peak", "limit", "completion"}));
  EXPECT_THAT(words["res"], UnorderedElementsAre("reset-peak", "reset-accumulated"));
  EXPECT_THAT(words["--dir /tmp sh"], UnorderedElementsAre("show"));
  EXPECT_THAT(words["help to"], UnorderedElementsAre("top"));
  EXPECT_THAT(words["completion "], UnorderedElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(words["ps --"], AllOf(IsSupersetOf({"--json", "--watch", "--dir", "--help"}), Not(Contains("--label"))));
  EXPECT_THAT(words["run --mode "], UnorderedElementsAre("cache", "count", "off"));
  EXPECT_THAT(words["run --simulate m"], UnorderedElementsAre("mtia"));
  EXPECT_THAT(words["run --label "], IsEmpty());
  EXPECT_THAT(words["reset-peak "],
              AllOf(IsSupersetOf({live.pid(), std::string{"nightly:3"}}), Not(Contains(dead.id()))));
  EXPECT_THAT(words["show "], IsSupersetOf({live.pid(), dead.id()}));
  EXPECT_THAT(words["snapshot /etc/pass"], Contains("passwd"));
  EXPECT_THAT(words["record "], UnorderedElementsAre("start", "stop"));
  EXPECT_THAT(words["record start "], Contains(live.pid()));
  EXPECT_THAT(words["limit 4711 n"], UnorderedElementsAre("none"));
  EXPECT_THAT(words["gc "], Not(Contains(live.pid())));
  EXPECT_THAT(words["report a --html /etc/pass"], Contains("passwd"));
}

TEST_P(CompletionOf, LeavesAProgramToItself) {
  FakeProcess live(world_);

  auto words = offered({"run prin", "run --mode count prin", "run --mode=count -- prin", "run cat /etc/pass",
                        "run train --e", "run -- train --e", "run train -- --mo", "run train --mo", "run --mo",
                        "peak 4711 -- prin", "peak 4711 -- train --e", "peak 4711 -- train --f", "peak 4711 --f",
                        "peak ", "doctor -- prin", "show -- prin", "run train show "});

  for (const char* line :
       {"run prin", "run --mode count prin", "run --mode=count -- prin", "peak 4711 -- prin", "doctor -- prin"}) {
    EXPECT_THAT(words[line], AllOf(Contains("printf"), Not(Contains(live.pid())))) << line;
  }
  EXPECT_THAT(words["run cat /etc/pass"], Contains("passwd"));
  for (const char* line : {"run train --e", "run -- train --e", "peak 4711 -- train --e"}) {
    EXPECT_THAT(words[line], UnorderedElementsAre("--epochs")) << line;
  }
  for (const char* line : {"run train -- --mo", "run train --mo", "peak 4711 -- train --f", "show -- prin"}) {
    EXPECT_THAT(words[line], IsEmpty()) << line << ": no option of ours, and no program where there is none";
  }
  EXPECT_THAT(words["run --mo"], UnorderedElementsAre("--mode"));
  EXPECT_THAT(words["peak 4711 --f"], UnorderedElementsAre("--for"));
  EXPECT_THAT(words["peak "], Contains(live.pid()));
  EXPECT_THAT(words["run train show "], Not(Contains(live.pid())));
}

INSTANTIATE_TEST_SUITE_P(Shell, CompletionOf, testing::Values("zsh", "fish"),
                         [](const auto& shell) { return shell.param; });

}  // namespace
}  // namespace tidemark::test
