// gc as a program: whose segments it removes, and what it says of the others.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Gc : public testing::Test {
 protected:
  [[nodiscard]] Outcome tidemark(std::vector<std::string> words) const { return world_.tidemark(std::move(words)); }

  ShimWorld world_;
};

TEST_F(Gc, RemovesTheDeadAndLeavesTheLiving) {
  FakeProcess live(world_);
  FakeProcess killed(world_);
  killed.kill();

  const Outcome dry = tidemark({"gc", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("would remove " + killed.path()));
  EXPECT_TRUE(fs::exists(killed.path()));

  const Outcome young = tidemark({"gc", "--older-than", "1h"});
  EXPECT_THAT(young.out, IsEmpty());
  EXPECT_EQ(young.err, "tidemark: nothing removed; left: 1 died less than 1 h 00 min ago, 1 live\n");
  EXPECT_TRUE(fs::exists(killed.path()));

  const Outcome outcome = tidemark({"gc"});
  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("removed " + killed.path()));
  EXPECT_THAT(outcome.err, StartsWith("tidemark: 1 of dead processes removed ("));
  EXPECT_THAT(outcome.err, HasSubstr("); left: 1 live\n"));
  EXPECT_FALSE(fs::exists(killed.path()));
  EXPECT_FALSE(fs::exists(killed.path() + ".ctl"));
  EXPECT_TRUE(fs::exists(live.path()));
  EXPECT_EQ(tidemark({"gc", "--older-than", "soon"}).exit_code, 2);
}

// As root it kept silent about the others' and let them lie.
TEST_F(Gc, AsRootRemovesTheDeadOfEveryone) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  FakeProcess live(world_, {"user=65534"});
  FakeProcess killed(world_);
  killed.kill();
  ASSERT_EQ(chown(live.path().c_str(), 65534, 65534), 0);
  ASSERT_EQ(chown(killed.path().c_str(), 65534, 65534), 0);

  const Outcome outcome = tidemark({"gc"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("removed " + killed.path() + " ("));
  EXPECT_THAT(outcome.out, HasSubstr(", of user 65534)\n"));
  EXPECT_FALSE(fs::exists(killed.path()));
  EXPECT_TRUE(fs::exists(live.path()));
}

TEST_F(Gc, SaysWhoseSegmentsItLeavesAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  FakeProcess killed(world_);
  killed.kill();
  ASSERT_EQ(chmod(world_.directory().c_str(), 0755), 0);
  Launch stranger = world_.viewer({"gc"});
  stranger.command.insert(stranger.command.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});

  const Outcome outcome = run(stranger);

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("tidemark: 1 of user 0 left alone, dead or alive"));
  EXPECT_TRUE(fs::exists(killed.path()));
}

}  // namespace
}  // namespace tidemark::test
