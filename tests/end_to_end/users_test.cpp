// Users: a process that gives rights up after its first allocation runs on as ever, and what it may not remove itself
// at its end is garbage to the next viewer; and who may see and ask what of somebody else's process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class Rights : public GuestTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to give something up";
    ASSERT_EQ(chmod(world_.directory().c_str(), 01777), 0) << "as /dev/shm";
  }
  // Works, and ends as without us.
  void finish(Guest& guest) {
    guest.free(guest.alloc(3 * kMiB));
    EXPECT_EQ(guest.ask("pairs 100 4096"), "0");
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
    EXPECT_FALSE(world_.files().empty()) << "the test needs a process that could not remove its files";

    EXPECT_EQ(world_.tidemark({"ps"}).exit_code, 0);
    EXPECT_EQ(world_.files(), std::vector<std::string>{});
  }
};
TIDEMARK_FOR_EVERY_GUEST(Rights);

TEST_P(Rights, ThatWereThoseOfAnotherUser) {
  Guest guest{shimmed_whole()};
  guest.alloc(1000);

  ASSERT_EQ(guest.code("user 65534"), 0);

  EXPECT_EQ(world_.tidemark({"reset-peak", std::to_string(guest.pid())}).exit_code, 0) << "who started it controls it";
  finish(guest);
}

TEST_P(Rights, ToSeeTheDirectory) {
  Guest guest{shimmed_whole()};
  guest.alloc(1000);

  ASSERT_EQ(guest.code("root /proc"), 0);

  finish(guest);
}

class OtherUsers : public GuestTest {
 protected:
  static constexpr int kNotPermitted = 4;
  static constexpr const char* kOwner = "65533";
  static constexpr const char* kGroup = "65532";

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to be several users";
    ASSERT_EQ(chmod(world_.directory().c_str(), 01777), 0) << "as /dev/shm";
    if (const Outcome outcome = as("65534", "65534", {"--version"}); outcome.exit_code != 0) {
      GTEST_SKIP() << "needs a build that other users may run: " << describe(outcome);
    }
  }
  static std::vector<std::string> become(const std::string& user, const std::string& group) {
    return {"setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups"};
  }
  // The viewer in the hands of somebody else.
  [[nodiscard]] Outcome as(const std::string& user, const std::string& group, std::vector<std::string> words) const {
    Launch launch = world_.viewer(std::move(words));
    const std::vector<std::string> first = become(user, group);
    launch.command.insert(launch.command.begin(), first.begin(), first.end());
    return run(launch);
  }
  [[nodiscard]] Launch owned(const std::string& access) const {
    Launch launch = shimmed();
    launch.environment["TIDEMARK_ACCESS"] = access;
    const std::vector<std::string> first = become(kOwner, kGroup);
    launch.command.insert(launch.command.begin(), first.begin(), first.end());
    return launch;
  }
};
TIDEMARK_FOR_EVERY_GUEST(OtherUsers);

TEST_P(OtherUsers, AreSeenAndAskedByRoot) {
  Guest guest{owned("owner")};
  guest.alloc(1000);
  const std::string pid = std::to_string(guest.pid());

  EXPECT_EQ(usage(guest).requested, 1000U);
  EXPECT_EQ(world_.process(guest.pid())["uid"], 65533);
  EXPECT_EQ(world_.tidemark({"reset-peak", pid}).exit_code, 0);
  const Outcome own = as(kOwner, kGroup, {"reset-peak", pid});
  EXPECT_EQ(own.exit_code, 0) << describe(own);
}

TEST_P(OtherUsers, ShowWhatTheyLetTheirGroupSee) {
  Guest guest{owned("group")};
  guest.alloc(1000);
  const std::string pid = std::to_string(guest.pid());

  const Outcome seen = as("65534", kGroup, {"ps", "--json"});
  const nlohmann::json process = nlohmann::json::parse(seen.out).at("processes").at(0);
  EXPECT_EQ(process.at("state"), "live") << describe(seen);
  EXPECT_EQ(usage_of(process.at("devices").at(0)).requested, 1000U);
  for (const char* command : {"reset-peak", "reset-accumulated", "empty-cache"}) {
    const Outcome refused = as("65534", kGroup, {command, pid});
    EXPECT_EQ(refused.exit_code, kNotPermitted) << command << describe(refused);
    EXPECT_THAT(refused.err, testing::HasSubstr("only the process's owner and root may")) << command;
  }

  const Outcome stranger = as("65534", "65534", {"ps", "--json"});
  EXPECT_EQ(stranger.exit_code, 0) << describe(stranger);
  EXPECT_EQ(nlohmann::json::parse(stranger.out).at("processes").at(0).at("state"), "unreadable");
  EXPECT_THAT(as("65534", "65534", {"ps"}).err, testing::HasSubstr("1 of other users not readable"));
}

}  // namespace
}  // namespace tidemark::test
