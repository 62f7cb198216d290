// A program in namespaces of its own, with a segment directory that only it sees, and root looking in from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

using nlohmann::json;

class Containers : public GuestTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to look into other namespaces";
    const Outcome outcome = run({.command = inside("true")});
    if (outcome.exit_code != 0) GTEST_SKIP() << "this machine lets nobody make namespaces: " << describe(outcome);
  }
  // Mount and pid namespaces as a container's, and over the segment directory a file system of the container's own.
  [[nodiscard]] std::vector<std::string> inside(const std::string& command) const {
    return {"unshare", "-m",           "-p",
            "-f",      "--kill-child", "--mount-proc",
            "sh",      "-c",           "mount -t tmpfs container " + world_.directory() + " && exec " + command};
  }
  [[nodiscard]] Launch contained() const {
    Launch launch = shimmed();
    launch.command = inside(GetParam().program);
    return launch;
  }
};
TIDEMARK_FOR_EVERY_GUEST(Containers);

TEST_P(Containers, AreLookedIntoByRoot) {
  Guest guest{contained()};
  guest.alloc(1000);
  EXPECT_TRUE(world_.files().empty()) << "the test needs a directory that is the container's own";

  const json processes = world_.ps()["processes"];

  ASSERT_EQ(processes.size(), 1U) << processes;
  const pid_t pid = processes[0]["pid"];
  EXPECT_EQ(processes[0]["ns_pid"], 1) << "as it counts";
  EXPECT_GT(pid, 1) << "as we count";
  EXPECT_EQ(processes[0]["state"], "live");
  EXPECT_EQ(processes[0]["container_id"], nullptr) << "no engine made this one";
  EXPECT_EQ(usage_of(world_.device(pid, GetParam().device())).requested, 1000U);
}

TEST_P(Containers, AreActedUponFromOutside) {
  Guest guest{contained()};
  guest.free(guest.alloc(3 * kMiB));
  const std::string pid = std::to_string(world_.ps()["processes"][0]["pid"].get<pid_t>());

  for (const std::vector<std::string>& command : {std::vector<std::string>{"reset-peak", pid},
                                                  {"limit", pid, "64MiB"},
                                                  {"show", pid},
                                                  {"peak", pid, "--for", "0"}}) {
    const Outcome outcome = world_.tidemark(command);
    EXPECT_EQ(outcome.exit_code, 0) << command[0] << describe(outcome);
  }

  const json device = world_.device(std::stoi(pid), GetParam().device());
  EXPECT_EQ(usage_of(device).peak, 0U);
  EXPECT_EQ(device["limit_bytes"], 64 * kMiB);
}

// One that shares the directory is found by its name, and once.
TEST_P(Containers, ThatShareOurDirectoryAreListedOnce) {
  Launch launch = shimmed();
  launch.command = {"unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", GetParam().program};
  Guest guest{launch};
  guest.alloc(1000);

  const json processes = world_.ps()["processes"];

  ASSERT_EQ(processes.size(), 1U) << processes;
  EXPECT_EQ(processes[0]["ns_pid"], 1);
}

}  // namespace
}  // namespace tidemark::test
