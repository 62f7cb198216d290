// Wrong input to the viewer: one clear line on stderr and the exit code of its interface, never a crash.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

constexpr int kUsage = 2;
constexpr int kNoTarget = 3;
constexpr int kPermission = 4;

void expect_one_line(const Outcome& outcome) {
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << describe(outcome);
  EXPECT_EQ(outcome.err.rfind("tidemark: ", 0), 0u) << describe(outcome);
}

class ViewerErrors : public testing::Test {
 protected:
  ViewerErrors() : guest_(world_.under_shim({test_program("guest_mtia")})) { guest_.alloc(1000); }

  void expect_refused(const std::vector<std::string>& arguments, int exit_code) const {
    const Outcome outcome = world_.tidemark(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << testing::PrintToString(arguments) << ": " << describe(outcome);
    EXPECT_EQ(outcome.out, "") << testing::PrintToString(arguments);
    expect_one_line(outcome);
  }
  [[nodiscard]] std::string pid() const { return std::to_string(guest_.pid()); }

  const ShimWorld world_;
  Guest guest_;
};

TEST_F(ViewerErrors, OfTheCommandLineAreUsageErrors) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"resetpeak"},
                                                    {"--no-such-option"},
                                                    {"ps", "--no-such-option"},
                                                    {"ps", "--watch", "soon"},
                                                    {"ps", "--watch", "-1"},
                                                    {"ps", "--json", "--csv"},
                                                    {"top", "-i", "never"},
                                                    {"reset-peak"},
                                                    {"reset-peak", pid(), "--device"},
                                                    {"reset-peak", pid(), "--device", "tpu:0"},
                                                    {"show"},
                                                    {"show", pid(), pid()},
                                                    {"gc", "--older-than", "yesterday"},
                                                    {"empty-cache", pid(), "--timeout", "-3"},
                                                    {"limit", pid()},
                                                    {"limit", pid(), "0"},
                                                    {"limit", pid(), "101%"},
                                                    {"limit", pid(), "much"},
                                                    {"limit", pid(), "1G", "--all"},
                                                    {"peak"},
                                                    {"peak", pid(), "true"},
                                                    {"peak", pid(), "--for", "ever"},
                                                    {"peak", pid(), "--for", "1", "--", "true"},
                                                    {"run"},
                                                    {"run", "--mode", "sometimes", "--", "true"},
                                                    {"run", "--limit", "12 parsecs", "--", "true"}}) {
    expect_refused(arguments, kUsage);
  }
}

TEST_F(ViewerErrors, OfAnUnknownTargetSaySo) {
  for (const char* target : {"999999999", "0", "-5", "ffffffff", "no-such-label", "4711x", ""}) {
    expect_refused({"reset-peak", "--", target}, kNoTarget);
    expect_refused({"show", "--", target}, kNoTarget);
  }
}

TEST_F(ViewerErrors, OfAnUnknownDeviceSaySo) {
  for (const char* device : {"mtia:9", "cuda:0", "9", "gpu:99", "deadbeef"}) {
    expect_refused({"reset-peak", pid(), "--device", device}, kNoTarget);
  }
  EXPECT_EQ(world_.tidemark({"reset-peak", pid(), "--device", "0"}).exit_code, 0);
}

TEST_F(ViewerErrors, OfADeadTargetSayThatItIsGone) {
  guest_.end_by(SIGKILL);

  for (const char* command : {"reset-peak", "reset-accumulated", "empty-cache"}) {
    const Outcome outcome = world_.tidemark({command, pid()});
    EXPECT_EQ(outcome.exit_code, kNoTarget) << command << describe(outcome);
    EXPECT_NE((outcome.out + outcome.err).find("gone"), std::string::npos) << describe(outcome);
  }
  EXPECT_EQ(world_.tidemark({"show", pid()}).exit_code, 0);
}

TEST_F(ViewerErrors, OfAnAmbiguousTargetListWhatMatches) {
  const auto labelled = [&] {
    Launch launch = world_.under_shim({test_program("guest_mtia")});
    launch.environment["TIDEMARK_LABEL"] = "twin";
    return launch;
  };
  Guest first{labelled()};
  Guest second{labelled()};
  first.alloc(1000);
  second.alloc(1000);

  const Outcome outcome = world_.tidemark({"show", "twin"});

  EXPECT_EQ(outcome.exit_code, kUsage) << describe(outcome);
  EXPECT_NE(outcome.err.find(std::to_string(first.pid())), std::string::npos) << describe(outcome);
  EXPECT_NE(outcome.err.find(std::to_string(second.pid())), std::string::npos) << describe(outcome);
}

TEST_F(ViewerErrors, OfAnotherUsersProcessAreAboutPermission) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  ASSERT_EQ(chmod(world_.directory().c_str(), 0755), 0);
  const Launch viewer = world_.viewer({"reset-peak", pid()});
  Launch stranger = viewer;
  stranger.command = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  stranger.command.insert(stranger.command.end(), viewer.command.begin(), viewer.command.end());

  const Outcome outcome = run(stranger);

  EXPECT_EQ(outcome.exit_code, kPermission) << describe(outcome);
  expect_one_line(outcome);
  EXPECT_EQ(usage_of(world_.device(guest_.pid(), "mtia:0")), (Usage{1000, 1024, 1024, 2 * kMiB}));
}

// Whatever lies in the directory under a name like ours: the others are shown, and nothing waits or crashes.
TEST_F(ViewerErrors, OfForeignFilesHideNobody) {
  const std::string base = world_.directory() + "/tidemark." + std::to_string(geteuid()) + ".";
  std::ostringstream own;
  own << std::ifstream{world_.directory() + "/" + world_.files().front(), std::ios::binary}.rdbuf();
  const std::string genuine = own.str();
  ASSERT_GT(genuine.size(), 4096u);
  std::ofstream{base + "1001.00000001"} << "";
  std::ofstream{base + "1002.00000002"} << "not a segment\n";
  std::ofstream{base + "1003.00000003"} << std::string(65536, '\xff');
  std::ofstream{base + "1004.00000004"} << genuine.substr(0, 100);
  std::ofstream{base + "1005.00000005"} << genuine.substr(0, genuine.size() / 2);
  std::ofstream{base + "x.y"} << "a";
  std::ofstream{world_.directory() + "/tidemark."} << "a";
  ASSERT_EQ(mkdir((base + "1006.00000006").c_str(), 0755), 0);
  ASSERT_EQ(symlink("/nowhere", (base + "1007.00000007").c_str()), 0);
  ASSERT_EQ(symlink("/dev/zero", (base + "1008.00000008").c_str()), 0);
  ASSERT_EQ(mkfifo((base + "1009.00000009").c_str(), 0644), 0);

  for (const char* command : {"ps", "gc"}) {
    const Outcome outcome = world_.tidemark({command});
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  }

  EXPECT_EQ(usage_of(world_.device(guest_.pid(), "mtia:0")), (Usage{1000, 1024, 1024, 2 * kMiB}));
  for (const char* target : {"1002", "1003", "1004", "1005", "1009"}) {
    const Outcome outcome = world_.tidemark({"show", target});
    EXPECT_TRUE(outcome.exit_code == 3 || outcome.exit_code == 5) << target << describe(outcome);
    expect_one_line(outcome);
  }
}

TEST_F(ViewerErrors, OfALaunchHaveTheCodesOfAShell) {
  EXPECT_EQ(world_.tidemark({"run", "--", "no-such-program"}).exit_code, 127);
  EXPECT_EQ(world_.tidemark({"run", "--", "/etc/passwd"}).exit_code, 126);
  EXPECT_EQ(world_.tidemark({"run", "--", "sh", "-c", "exit 9"}).exit_code, 9);
  EXPECT_EQ(world_.tidemark({"run", "--", "sh", "-c", "kill -TERM $$"}).signal, SIGTERM);
}

TEST_F(ViewerErrors, OfAMissingDirectoryAreSaid) {
  Launch launch = world_.viewer({"ps", "--json"});
  launch.environment["TIDEMARK_DIR"] = world_.directory() + "/nowhere";

  const Outcome outcome = run(launch);

  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  expect_one_line(outcome);
}

}  // namespace
}  // namespace tidemark::test
