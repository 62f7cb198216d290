// What a viewer makes of the memory of programs that have never heard of it: snapshots that PyTorch's viewers can
// follow back, at any moment and after a kill; sums that are the program's own; what grows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/guests.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Reading : public GuestTest {
 protected:
  [[nodiscard]] Launch recorded() const {
    Launch launch = shimmed();
    launch.environment["TIDEMARK_RECORD"] = "all";
    launch.environment["TIDEMARK_RECORD_MAX_ENTRIES"] = "5000";  // a checker in Python takes its time
    return launch;
  }
  [[nodiscard]] json report(const std::string& target) const {
    const Outcome told = world_.tidemark({"report", target, "--json"});
    EXPECT_EQ(told.exit_code, 0) << describe(told);
    return json::parse(told.out);
  }
  // What a checker says of a snapshot taken now, which knows nothing of us.
  [[nodiscard]] Outcome check(const std::string& target) const {
    const std::string file = files_ / "a.pickle";
    const Outcome saved = world_.tidemark({"snapshot", target, "-f", "-o", file});
    EXPECT_EQ(saved.exit_code, 0) << describe(saved);
    return run({.command = {"python3", "-B", TIDEMARK_TEST_CHECK_SNAPSHOT, file}});
  }
  static std::string pid_of(const Guest& guest) { return std::to_string(guest.pid()); }

  const TemporaryDirectory files_;
};
TIDEMARK_FOR_EVERY_GUEST(Reading);

TEST_P(Reading, FollowsBackFromAnyMomentOfABusyProgram) {
  Guest guest{recorded()};
  guest.free(guest.alloc(512));
  ASSERT_EQ(guest.ask("churn 4"), "running");

  for (int i = 0; i < 5; ++i) {
    const Outcome checked = check(pid_of(guest));
    EXPECT_EQ(checked.exit_code, 0) << describe(checked);
    EXPECT_THAT(checked.out, HasSubstr(" events, "));
  }

  EXPECT_EQ(guest.code("stop"), 0);
}

TEST_P(Reading, FollowsBackFromTheMomentOfAKill) {
  Guest guest{recorded()};
  guest.free(guest.alloc(512));
  ASSERT_EQ(guest.ask("churn 4"), "running");
  EXPECT_EQ(check(pid_of(guest)).exit_code, 0);

  static_cast<void>(guest.end_by(SIGKILL));

  const Outcome checked = check(pid_of(guest));
  EXPECT_EQ(checked.exit_code, 0) << describe(checked);
  EXPECT_TRUE(report(pid_of(guest))["has_ended"].get<bool>());
}

TEST_P(Reading, TellsWhatTheProgramHoldsToTheByte) {
  Guest guest{recorded()};
  guest.alloc(1000);
  const int freed = guest.alloc(70'000);
  guest.alloc(5 * kMiB);
  guest.free(freed);

  const json device = report(pid_of(guest))["devices"][0];

  EXPECT_EQ(device["device"], GetParam().device());
  EXPECT_EQ(device["held"]["requested_bytes"], 1000 + 5 * kMiB);
  EXPECT_EQ(device["held"]["blocks"], 2);
  EXPECT_EQ(device["held"]["bytes"], usage(guest).allocated);
  EXPECT_EQ(device["reserved_bytes"], usage(guest).reserved);
  EXPECT_GE(device["timeline"]["highest"]["held_bytes"], usage(guest).allocated + 70'000);
}

TEST_P(Reading, TellsBlocksAndAgesOfAProgramThatDoesNotRecord) {
  Guest guest{shimmed()};
  guest.alloc(1000);
  guest.alloc(5 * kMiB);

  const json told = report(pid_of(guest));

  EXPECT_TRUE(told["recorded"].is_null());
  EXPECT_EQ(told["devices"][0]["held"]["requested_bytes"], 1000 + 5 * kMiB);
  EXPECT_TRUE(told["devices"][0]["timeline"].is_null());
  EXPECT_EQ(check(pid_of(guest)).exit_code, 0);
}

// Who was killed without a history may have left what is as good.
TEST_P(Reading, OfADeadProcessLeadsToWhatItSavedAtAnOutOfMemory) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_SNAPSHOT_ON_OOM"] = world_.directory() + "/oom-%p-%n.tmsnap";
  launch.environment[GetParam().memory_knob] = std::to_string(64 * kMiB);
  Guest guest{launch};
  guest.alloc(1000);
  EXPECT_EQ(guest.ask("alloc 1073741824"), "error 2");
  const std::string pid = pid_of(guest);
  static_cast<void>(guest.end_by(SIGKILL));

  const Outcome report = world_.tidemark({"report", pid});

  EXPECT_EQ(report.exit_code, 1) << describe(report);
  EXPECT_THAT(report.err, HasSubstr("left no history: nothing was recorded when it ended; its last numbers: tidemark "
                                    "show "));
  EXPECT_THAT(report.err, HasSubstr("; what it saved when memory ran out: tidemark report " + world_.directory() +
                                    "/oom-" + pid + "-1.tmsnap\n"));
}

TEST_P(Reading, SaysOfAProgramWithoutAnAllocationThatItCannotBeAskedYet) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_LABEL"] = "waits";
  Guest guest{launch};

  const std::string pid = pid_of(guest);
  for (const std::string& word : {pid, std::string{"waits"}}) {
    const Outcome refused = world_.tidemark({"record", "start", word});
    EXPECT_EQ(refused.exit_code, 3) << describe(refused);
    EXPECT_EQ(refused.err, "tidemark: process " + pid +
                               " has the library and no allocation yet: it can be looked at and asked from its first "
                               "allocation on\n");
  }
}

TEST_P(Reading, FindsWhatGrowsAndLeavesTheProgramUnrecorded) {
  Guest guest{shimmed()};
  guest.alloc(5 * kMiB);
  const ScratchFile in;
  const ScratchFile out;
  const ScratchFile err;
  Process leaks(world_.viewer({"leaks", pid_of(guest), "--for", "2", "--json"}), in.fd(), out.fd(), err.fd());

  while (!leaks.has_ended()) {
    guest.alloc(4096);  // and never frees it
  }

  EXPECT_EQ(leaks.wait().exit_code, 0) << err.text();
  const json device = json::parse(out.text())["devices"][0];
  ASSERT_EQ(device["grew"].size(), 1U) << device;
  EXPECT_GT(device["grew"][0]["survived"]["blocks"], 0);
  EXPECT_EQ(device["grew"][0]["grew_bytes"].get<std::uint64_t>(),
            device["grew"][0]["grew_blocks"].get<std::uint64_t>() * 4096);
  EXPECT_TRUE(world_.process(guest.pid())["recording"].is_null());
}

}  // namespace
}  // namespace tidemark::test
