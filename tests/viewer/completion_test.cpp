// The completion scripts in their shells: what a tab offers after a line.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tidemark::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using Words = std::vector<std::string>;

class Completion : public testing::Test {
 protected:
  // What bash offers for the last of `words`, of which the first is the viewer. As bash does, "=" is a word.
  [[nodiscard]] Words offered(const Words& words) const {
    Launch launch = world_.viewer({"completion", "bash"});
    const std::string viewer = launch.command.front();
    launch.command = {"bash",
                      "--norc",
                      "-c",
                      "source <(\"$1\" completion bash) || exit 9; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                      "_tidemark; for word in \"${COMPREPLY[@]}\"; do printf '%s\\n' \"$word\"; done",
                      "bash",
                      viewer};
    // $0 is bash's name here, so that "$@" begins with the viewer.
    launch.command.insert(launch.command.end(), words.begin(), words.end());
    const Outcome outcome = run(launch);
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    EXPECT_EQ(outcome.err, "");
    Words found;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      found.push_back(line);
    }
    return found;
  }

  ShimWorld world_;
};

TEST_F(Completion, OffersCommands) {
  EXPECT_THAT(offered({"res"}), ElementsAre("reset-peak", "reset-accumulated"));
  EXPECT_THAT(offered({""}), IsSupersetOf({"run", "ps", "peak", "limit", "completion"}));
  EXPECT_THAT(offered({"--dir", "/tmp", "sh"}), ElementsAre("show"));
  EXPECT_THAT(offered({"help", "to"}), ElementsAre("top"));
  EXPECT_THAT(offered({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

TEST_F(Completion, OffersOptionsAndTheirValues) {
  EXPECT_THAT(offered({"ps", "--"}), IsSupersetOf({"--json", "--watch", "--dir", "--help"}));
  EXPECT_THAT(offered({"ps", "--"}), Not(Contains("--label")));
  EXPECT_THAT(offered({"run", "--mode", ""}), ElementsAre("cache", "count", "off"));
  EXPECT_THAT(offered({"run", "--mode", "=", "c"}), ElementsAre("cache", "count"));
  EXPECT_THAT(offered({"run", "--mode", "="}), ElementsAre("cache", "count", "off"));
  EXPECT_THAT(offered({"run", "--simulate", "m"}), ElementsAre("mtia"));
  EXPECT_THAT(offered({"run", "--label", ""}), IsEmpty());
  EXPECT_THAT(offered({"ps", "--dir", "/etc/s"}), Contains("/etc/ssl"));
}

TEST_F(Completion, OffersLivingTargets) {
  FakeProcess live(world_, {"label=my $(job)"});
  FakeProcess dead(world_, {"label=gone"});
  dead.kill();

  EXPECT_THAT(offered({"reset-peak", ""}), ElementsAre(live.pid(), "my\\ \\$\\(job\\)"));
  EXPECT_THAT(offered({"limit", "my"}), ElementsAre("my\\ \\$\\(job\\)"));
  EXPECT_THAT(offered({"show", ""}), ElementsAre(live.pid(), "my\\ \\$\\(job\\)", dead.id()));
  EXPECT_THAT(offered({"leaks", ""}), ElementsAre(live.pid(), "my\\ \\$\\(job\\)"));
  EXPECT_THAT(offered({"gc", ""}), IsEmpty());
}

TEST_F(Completion, OffersWhatStandsAtAPlace) {
  FakeProcess live(world_);

  EXPECT_THAT(offered({"record", ""}), ElementsAre("start", "stop"));
  EXPECT_THAT(offered({"record", "--max-entries", "5", "st"}), ElementsAre("start", "stop"));
  EXPECT_THAT(offered({"record", "start", ""}), ElementsAre(live.pid()));
  EXPECT_THAT(offered({"record", "start", "4711", ""}), ElementsAre(live.pid())) << "several targets";
  EXPECT_THAT(offered({"limit", live.pid(), ""}), ElementsAre("none"));
  EXPECT_THAT(offered({"show", live.pid(), ""}), IsEmpty()) << "one target";
}

TEST_F(Completion, OffersFilesWhereASnapshotIsAsGoodAsAProcess) {
  FakeProcess dead(world_);
  dead.kill();

  for (const char* command : {"snapshot", "report", "diff"}) {
    EXPECT_THAT(offered({command, dead.id().substr(0, 4)}), ElementsAre(dead.id())) << command;
    EXPECT_THAT(offered({command, "/etc/pass"}), Contains("/etc/passwd")) << command;
  }
  EXPECT_THAT(offered({"report", "a.pickle", "--html", "/etc/pass"}), Contains("/etc/passwd"));
}

TEST_F(Completion, LeavesAProgramToItself) {
  EXPECT_THAT(offered({"run", "--mode", "count", "prin"}), Contains("printf"));
  EXPECT_THAT(offered({"run", "--", "prin"}), Contains("printf"));
  EXPECT_THAT(offered({"run", "cat", "/etc/pass"}), Contains("/etc/passwd"));
  EXPECT_THAT(offered({"run", "cat", "--mo"}), IsEmpty());
  EXPECT_THAT(offered({"peak", "4711", "--", "prin"}), Contains("printf"));
  EXPECT_THAT(offered({"doctor", "--", "prin"}), Contains("printf"));
  EXPECT_THAT(offered({"show", "--", "prin"}), IsEmpty());
  EXPECT_THAT(offered({"run", "--mo"}), ElementsAre("--mode"));
}

TEST_F(Completion, OfAnUnknownShellIsAMistake) {
  EXPECT_EQ(world_.tidemark({"completion", "csh"}).exit_code, 2);
  EXPECT_EQ(world_.tidemark({"completion"}).exit_code, 2);
}

}  // namespace
}  // namespace tidemark::test
