// tidemark watch beside programs that run out of memory, also such as start and end while it watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Watch : public GuestTest {
 protected:
  [[nodiscard]] Launch small_device() const {
    Launch launch = shimmed();
    launch.environment[GetParam().memory_knob] = std::to_string(64 * kMiB);
    return launch;
  }
  [[nodiscard]] Launch watching(std::vector<std::string> more) const {
    std::vector<std::string> words{"watch", "-i", "50ms", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return world_.viewer(words);
  }
  // It has looked once when it has said so.
  static void wait_until_it_looks(const Conversation& watch) {
    constexpr int kMostLooks = 3000;
    for (int i = 0; i < kMostLooks && watch.err().find("watching ") == std::string::npos; ++i) {
      ::usleep(10'000);
    }
    ASSERT_NE(watch.err().find("watching "), std::string::npos) << watch.err();
  }
  [[nodiscard]] std::string path(const char* name) const { return world_.directory() + "/" + name; }
  static std::string content_of(const std::string& file) {
    std::ifstream stream{file};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }
};
TIDEMARK_FOR_EVERY_GUEST(Watch);

TEST_P(Watch, TellsOfAnOutOfMemoryAndRunsTheCommand) {
  Guest guest{small_device()};
  guest.alloc(1000);
  Conversation watch{watching({std::to_string(guest.pid()), "--count", "1", "--on-oom",
                               "echo \"$TIDEMARK_EVENT $TIDEMARK_PID $TIDEMARK_DEVICE $TIDEMARK_REQUESTED_BYTES "
                               "$TIDEMARK_TOTAL_BYTES\" > " +
                                   path("told.txt")})};
  wait_until_it_looks(watch);

  EXPECT_EQ(guest.ask("alloc 1073741824"), "error 2");

  const json event = json::parse(watch.read_line());
  EXPECT_EQ(event.at("event"), "oom");
  EXPECT_EQ(event.at("pid"), guest.pid());
  EXPECT_EQ(event.at("requested_bytes"), 1073741824);
  EXPECT_EQ(event.at("total_bytes"), 64 * kMiB);
  EXPECT_EQ(watch.finish().exit_code, 0);
  EXPECT_EQ(content_of(path("told.txt")), "oom " + std::to_string(guest.pid()) + " " + GetParam().device() +
                                              " 1073741824 " + std::to_string(64 * kMiB) + "\n");
  std::filesystem::remove(path("told.txt"));
}

TEST_P(Watch, SeesProcessesThatStartLaterAndDie) {
  Conversation watch{watching({"--all", "--count", "1"})};
  wait_until_it_looks(watch);

  Guest guest{small_device()};
  guest.alloc(1000);
  guest.ask("alloc 1073741824");
  guest.end_by(SIGKILL);

  EXPECT_EQ(json::parse(watch.read_line()).at("pid"), guest.pid());
  EXPECT_EQ(watch.finish().exit_code, 0);
}

TEST_P(Watch, TellsOfUseAboveAThreshold) {
  Guest guest{small_device()};
  guest.alloc(1000);
  Conversation watch{watching({std::to_string(guest.pid()), "--above", "50%", "--count", "1"})};
  wait_until_it_looks(watch);

  guest.alloc(40 * kMiB);

  const json event = json::parse(watch.read_line());
  EXPECT_EQ(event.at("event"), "above");
  EXPECT_GE(event.at("held_bytes"), 40 * kMiB);
  EXPECT_EQ(event.at("requested_bytes"), nullptr);
  EXPECT_EQ(watch.finish().exit_code, 0);
}

TEST_P(Watch, EndsWithWhatItWatchesAndAtASignal) {
  Guest guest{small_device()};
  guest.alloc(1000);
  Conversation one{watching({std::to_string(guest.pid())})};
  Conversation all{watching({"--all"})};
  wait_until_it_looks(one);
  wait_until_it_looks(all);

  guest.finish();

  const Outcome ended = one.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("what was to be watched has ended"));
  EXPECT_EQ(all.end_by(SIGTERM).exit_code, 0);
}

TEST_P(Watch, SaysThatACommandFailed) {
  Guest guest{small_device()};
  guest.alloc(1000);
  Conversation watch{watching({std::to_string(guest.pid()), "--count", "1", "--on-oom", "exit 3"})};
  wait_until_it_looks(watch);
  guest.ask("alloc 1073741824");

  const Outcome ended = watch.finish();

  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("tidemark: watch: 'exit 3' ended with 3\n"));
}

TEST_P(Watch, RefusesWhatItCannotDo) {
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "watch");
    const Outcome outcome = world_.tidemark(words);
    return std::to_string(outcome.exit_code) + " " + outcome.err;
  };

  EXPECT_THAT(refusal({}), HasSubstr("2 tidemark: watch: which processes? a pid, an id or a label, or --all"));
  EXPECT_THAT(refusal({"--all", "4711"}), HasSubstr("2 tidemark: watch: targets or --all, not both"));
  EXPECT_THAT(refusal({"--all", "--above", "much"}), HasSubstr("2 tidemark: watch: --above 'much'; allowed: "));
  EXPECT_THAT(refusal({"--all", "-i", "1ms"}), HasSubstr("2 tidemark: watch: -i '1ms'; allowed: 50ms and more"));
  EXPECT_THAT(refusal({"--all", "--count", "0"}), HasSubstr("2 tidemark: watch: --count '0'; allowed: 1 and more"));
  EXPECT_THAT(refusal({"999999999"}), HasSubstr("3 tidemark: "));
}

}  // namespace
}  // namespace tidemark::test
