// reset-peak, reset-accumulated and empty-cache as programs, on processes that obey, defer, refuse, stall or are dead.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class Acting : public testing::Test {
 protected:
  [[nodiscard]] Outcome tidemark(std::vector<std::string> words) const { return world_.tidemark(std::move(words)); }

  ShimWorld world_;
};
using ResetPeak = Acting;
using ResetAccumulated = Acting;
using EmptyCache = Acting;
using Limit = Acting;
using Refusals = Acting;

TEST_F(ResetPeak, SaysBeforeAndAfterForEveryDevice) {
  FakeProcess live(world_, {"label=job"});

  const Outcome outcome = tidemark({"reset-peak", "job"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_EQ(outcome.out, live.pid() + " cuda:0: peak 300.0 MiB -> 100.0 MiB (allocated now)\n" + live.pid() +
                             " mtia:0: peak 300.0 MiB -> 100.0 MiB (allocated now)\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(usage_of(world_.device(std::stoi(live.pid()), "mtia:0")).peak, 100U << 20);
}

TEST_F(ResetPeak, LeavesOtherDevicesAlone) {
  FakeProcess live(world_);

  const Outcome outcome = tidemark({"reset-peak", live.pid(), "--device", "mtia:0"});

  EXPECT_EQ(outcome.out, live.pid() + " mtia:0: peak 300.0 MiB -> 100.0 MiB (allocated now)\n");
  EXPECT_EQ(usage_of(world_.device(std::stoi(live.pid()), "cuda:0")).peak, 300U << 20);
}

TEST_F(ResetPeak, OfAllGoesToEveryLivingProcess) {
  FakeProcess one(world_);
  FakeProcess two(world_);
  FakeProcess dead(world_);
  dead.kill();

  const Outcome outcome = tidemark({"reset-peak", "--all", "--device", "cuda:0", "--json"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  const json results = json::parse(outcome.out).at("results");
  ASSERT_EQ(results.size(), 2U);
  const json& first = results.at(0);
  EXPECT_EQ(first.at("id"), one.id());
  EXPECT_EQ(first.at("pid"), std::stoi(one.pid()));
  EXPECT_EQ(first.at("device"), "cuda:0");
  EXPECT_EQ(first.at("status"), "done");
  EXPECT_EQ(first.at("detail"), nullptr);
  EXPECT_EQ(first.at("before").at("peak_allocated_bytes"), 300U << 20);
  EXPECT_EQ(first.at("after").at("peak_allocated_bytes"), 100U << 20);
  EXPECT_EQ(results.at(1).at("id"), two.id());
}

TEST_F(ResetPeak, OfAllWhenThereIsNothingIsDone) {
  EXPECT_EQ(tidemark({"reset-peak", "--all"}).exit_code, 0);
  EXPECT_EQ(json::parse(tidemark({"reset-peak", "--all", "--json"}).out).at("results").size(), 0U);
}

// Permission was the reason, and it said that there was nothing.
TEST_F(ResetPeak, OfAllWhereAllAreOfAnotherUserIsAboutPermission) {
  FakeProcess live(world_);
  ASSERT_EQ(chmod(world_.directory().c_str(), 0755), 0);
  for (const char* command : {"reset-peak", "reset-accumulated", "empty-cache"}) {
    Launch stranger = world_.viewer({command, "--all"});
    stranger.command.insert(stranger.command.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    if (geteuid() != 0 || access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "needs root to become another user";

    const Outcome outcome = run(stranger);

    EXPECT_EQ(outcome.exit_code, 4) << describe(outcome);
    EXPECT_EQ(outcome.err,
              "tidemark: no living process that may be asked: 1 of other users, whom only they and root may ask\n");
  }
}

TEST_F(ResetPeak, WithoutTimeAsksAndGoesOn) {
  FakeProcess silent(world_, {"answer=none"});

  const Outcome outcome = tidemark({"reset-peak", silent.pid(), "-t", "0", "-d", "cuda:0"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_EQ(outcome.out, silent.pid() + " cuda:0: posted; the process has not looked at it yet\n");
  const json result = json::parse(tidemark({"reset-peak", silent.pid(), "-t", "0", "--json"}).out).at("results").at(0);
  EXPECT_EQ(result.at("before").at("peak_allocated_bytes"), 300U << 20);
  EXPECT_EQ(result.at("after"), nullptr) << "not known yet";
}

TEST_F(ResetAccumulated, ZeroesTheTotals) {
  FakeProcess live(world_);

  const Outcome outcome = tidemark({"reset-accumulated", live.id()});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("cuda:0: totals and event counts are 0"));
  EXPECT_EQ(stat_of(world_.device(std::stoi(live.pid()), "cuda:0"), "allocation.all.allocated"), 0U);
}

TEST_F(EmptyCache, SaysWhatWentBack) {
  FakeProcess live(world_);

  const Outcome outcome = tidemark({"empty-cache", live.pid(), "-d", "cuda:0"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_EQ(outcome.out, live.pid() + " cuda:0: gave back 300.0 MiB of 400.0 MiB; 100.0 MiB stay: 100.0 MiB in use\n");
}

TEST_F(EmptyCache, ThatIsStillDeferredWhenTimeIsUpIsCodeSix) {
  FakeProcess busy(world_, {"answer=deferred"});

  const Outcome outcome = tidemark({"empty-cache", busy.pid(), "--timeout", "0.05"});

  EXPECT_EQ(outcome.exit_code, 6) << describe(outcome);
  EXPECT_THAT(outcome.err, StartsWith("tidemark: " + busy.pid() + " cuda:0: deferred: waits for an allocation"));
}

TEST_F(EmptyCache, WithoutTimeIsPostedAndDone) {
  FakeProcess busy(world_, {"answer=deferred"});
  FakeProcess idle(world_, {"answer=none"});

  const Outcome deferred = tidemark({"empty-cache", busy.pid(), "--timeout", "0"});
  const Outcome unseen = tidemark({"empty-cache", idle.pid(), "--timeout", "0"});

  EXPECT_EQ(deferred.exit_code, 0) << describe(deferred);
  EXPECT_EQ(unseen.exit_code, 0) << describe(unseen);
  EXPECT_EQ(unseen.out, idle.pid() + " cuda:0: posted; the process has not looked at it yet\n" + idle.pid() +
                            " mtia:0: posted; the process has not looked at it yet\n");
}

TEST_F(Limit, SaysBeforeAndAfterForEveryDevice) {
  FakeProcess live(world_);

  EXPECT_EQ(tidemark({"limit", live.pid(), "512MiB"}).out,
            live.pid() + " cuda:0: limit none -> 512.0 MiB\n" + live.pid() + " mtia:0: limit none -> 512.0 MiB\n");
  EXPECT_EQ(tidemark({"limit", live.pid(), "75%", "-d", "mtia:0"}).out,
            live.pid() + " mtia:0: limit 512.0 MiB -> 768.0 MiB\n");
  EXPECT_EQ(tidemark({"limit", live.pid(), "none", "-d", "cuda:0"}).out,
            live.pid() + " cuda:0: limit 512.0 MiB -> none\n");
}

TEST_F(Limit, BelowWhatIsReservedIsDoneAndSaysSo) {
  FakeProcess live(world_);

  const Outcome outcome = tidemark({"limit", live.pid(), "25%", "--device", "cuda:0"});

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  EXPECT_EQ(outcome.out, live.pid() +
                             " cuda:0: limit none -> 256.0 MiB; more is reserved: growth is refused until frees bring "
                             "it below (400.0 MiB)\n");
}

TEST_F(Limit, IsRefusedWhereThePolicyIsPeaks) {
  FakeProcess peaks_only(world_, {"policy=peaks"});

  EXPECT_EQ(tidemark({"limit", peaks_only.pid(), "1GiB"}).exit_code, 4);
  EXPECT_EQ(tidemark({"limit", peaks_only.pid(), "50%"}).exit_code, 4);
  EXPECT_EQ(stat_of(world_.device(std::stoi(peaks_only.pid()), "cuda:0"), "reserved_bytes.all.current"), 400U << 20);
}

TEST_F(Refusals, ADeadProcessIsGone) {
  FakeProcess dead(world_);
  dead.kill();

  const Outcome outcome = tidemark({"reset-peak", dead.pid(), "--json"});

  EXPECT_EQ(outcome.exit_code, 3) << describe(outcome);
  EXPECT_EQ(json::parse(outcome.out).at("results").at(0).at("status"), "gone");
  EXPECT_THAT(tidemark({"reset-peak", dead.id()}).err, HasSubstr("gone: the process is dead (killed)"));
}

TEST_F(Refusals, AProcessWithControlOffSaysSo) {
  FakeProcess closed(world_, {"policy=off"});

  const Outcome outcome = tidemark({"reset-peak", closed.pid()});

  EXPECT_EQ(outcome.exit_code, 4) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("TIDEMARK_CONTROL=off"));
}

// A control file that was gone or replaced was taken for TIDEMARK_CONTROL=off.
TEST_F(Refusals, AProcessWhoseControlFileIsGoneSaysSo) {
  FakeProcess live(world_);
  fs::remove(live.path() + ".ctl");

  const Outcome outcome = tidemark({"reset-peak", live.pid(), "--device", "cuda:0"});

  EXPECT_EQ(outcome.exit_code, 1) << describe(outcome);
  EXPECT_EQ(outcome.err, "tidemark: " + live.pid() +
                             " cuda:0: refused: its control file was removed: the process can be watched, but asked "
                             "nothing any more\n");
}

TEST_F(Refusals, AProcessWhoseControlFileWasReplacedSaysSo) {
  FakeProcess live(world_);
  fs::copy_file(live.path() + ".ctl", world_.directory() + "/copy");
  fs::rename(world_.directory() + "/copy", live.path() + ".ctl");

  const Outcome outcome = tidemark({"reset-peak", live.pid(), "--json"});

  EXPECT_EQ(outcome.exit_code, 1) << describe(outcome);
  const json result = json::parse(outcome.out).at("results").at(0);
  EXPECT_EQ(result.at("status"), "refused");
  EXPECT_EQ(result.at("detail"), "its control file was replaced or is damaged");
}

TEST_F(Refusals, AProcessWhoseControlFileOthersMayWriteSaysSo) {
  FakeProcess live(world_);
  ASSERT_EQ(chmod((live.path() + ".ctl").c_str(), 0666), 0);

  const Outcome outcome = tidemark({"reset-peak", live.pid()});

  EXPECT_EQ(outcome.exit_code, 1) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("the owner or mode of its control file was changed"));
}

TEST_F(Refusals, AProcessThatBecameAnotherUserSaysSo) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  FakeProcess changed(world_, {"user=65534"});

  const Outcome outcome = tidemark({"reset-peak", changed.pid(), "--timeout", "1"});

  EXPECT_EQ(outcome.exit_code, 4) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("became another user after its first allocation"));
}

TEST_F(Refusals, WhatThePolicyDoesNotAllowIsRefused) {
  FakeProcess peaks_only(world_, {"policy=peaks"});

  EXPECT_EQ(tidemark({"reset-peak", peaks_only.pid()}).exit_code, 0);
  const Outcome outcome = tidemark({"empty-cache", peaks_only.pid()});
  EXPECT_EQ(outcome.exit_code, 4) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("refused"));
}

TEST_F(Refusals, NoAnswerInTimeIsCodeSix) {
  FakeProcess silent(world_, {"answer=none"});

  const Outcome outcome = tidemark({"reset-peak", silent.pid(), "--timeout", "50ms"});

  EXPECT_EQ(outcome.exit_code, 6) << describe(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("timeout"));
}

TEST_F(Refusals, UnknownDevicesAreToldApartFromMistakes) {
  FakeProcess live(world_);

  const Outcome missing = tidemark({"reset-peak", live.pid(), "--device", "cuda:7"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err, "tidemark: process " + live.pid() + " has no device 'cuda:7'; it has cuda:0, mtia:0\n");
  EXPECT_EQ(tidemark({"reset-peak", live.pid(), "--device", "first"}).exit_code, 2);
  EXPECT_EQ(tidemark({"reset-peak", "--all", "--device", "cuda:7"}).exit_code, 3);
}

TEST_F(Refusals, TheFirstFailureOfSeveralTargetsIsTheCode) {
  FakeProcess live(world_);
  FakeProcess closed(world_, {"policy=off"});

  const Outcome outcome = tidemark({"reset-peak", closed.pid(), "4000000", live.pid()});

  EXPECT_EQ(outcome.exit_code, 4) << describe(outcome);
  EXPECT_THAT(outcome.out, HasSubstr(live.pid() + " cuda:0: peak 300.0 MiB -> 100.0 MiB"));
  EXPECT_EQ(tidemark({"reset-peak", "4000000", closed.pid()}).exit_code, 3);
}

}  // namespace
}  // namespace tidemark::test
