// `tidemark peak` measures an interval of its own: resets and other viewers don't touch it, and it touches nobody.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

// `tidemark peak PID -- cat`: it has begun once cat has answered, and ends with cat's input.
class Interval : public Conversation {
 public:
  Interval(const ShimWorld& world, const Guest& guest, std::vector<std::string> options = {})
      : Conversation(launch(world, guest, std::move(options))) {
    EXPECT_EQ(ask("begun"), "begun") << err();
  }

  // Of the guest's first device.
  nlohmann::json end() {
    const Outcome outcome = finish();
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    return nlohmann::json::parse(outcome.out).at("results").at(0);
  }

 private:
  static Launch launch(const ShimWorld& world, const Guest& guest, std::vector<std::string> options) {
    std::vector<std::string> words{"peak", std::to_string(guest.pid()), "--json"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "cat"});
    return world.viewer(words);
  }
};

class OwnPeak : public GuestTest {};
TIDEMARK_FOR_EVERY_GUEST(OwnPeak);

TEST_P(OwnPeak, OfTwoViewersAndOneResetAreEachRight) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(20 * kMiB));  // before both
  guest.alloc(2 * kMiB);
  Interval outer{world_, guest};
  guest.free(guest.alloc(12 * kMiB));
  Interval inner{world_, guest};
  guest.free(guest.alloc(4 * kMiB));

  EXPECT_EQ(world_.tidemark({"reset-peak", std::to_string(guest.pid())}).exit_code, 0);
  guest.alloc(6 * kMiB);

  EXPECT_EQ(usage(guest).peak, 8 * kMiB);
  EXPECT_EQ(inner.end().at("peak").at("allocated_bytes"), 8 * kMiB);
  const nlohmann::json result = outer.end();
  EXPECT_EQ(result.at("status"), "done");
  EXPECT_EQ(result.at("device"), GetParam().device());
  EXPECT_EQ(result.at("peak").at("allocated_bytes"), 14 * kMiB);
  EXPECT_EQ(result.at("peak").at("held_bytes"), result.at("peak").at("reserved_bytes"));
  EXPECT_GE(result.at("peak").at("reserved_bytes"), 22 * kMiB);
  EXPECT_EQ(result.at("before").at("allocated_bytes"), 2 * kMiB);
  EXPECT_EQ(result.at("after").at("allocated_bytes"), 8 * kMiB);
  EXPECT_EQ(usage(guest).peak, 8 * kMiB) << "the viewers have changed nothing";
}

TEST_P(OwnPeak, BeginsAtWhatIsInUseWhereASlotIsUsedAgain) {
  Guest guest{shimmed_whole()};
  const int block = guest.alloc(4 * kMiB);
  Interval first{world_, guest};
  guest.free(guest.alloc(12 * kMiB));
  EXPECT_EQ(first.end().at("peak").at("allocated_bytes"), 16 * kMiB);

  Interval second{world_, guest};
  guest.free(block);

  EXPECT_EQ(second.end().at("peak").at("allocated_bytes"), 4 * kMiB);
}

TEST_P(OwnPeak, HasADeviceThatComesLater) {
  Guest guest{shimmed_whole()};
  guest.alloc(1000);
  Interval interval{world_, guest};
  EXPECT_EQ(guest.code("device 1"), 0);
  guest.free(guest.alloc(4 * kMiB));

  const Outcome outcome = interval.finish();

  const nlohmann::json results = nlohmann::json::parse(outcome.out).at("results");
  ASSERT_EQ(results.size(), 2U) << describe(outcome);
  EXPECT_EQ(results.at(1).at("device"), GetParam().device(1));
  EXPECT_EQ(results.at(1).at("peak").at("allocated_bytes"), 4 * kMiB);
  EXPECT_EQ(results.at(1).at("before"), nullptr);
}

TEST_P(OwnPeak, OfAProcessThatEndedMeanwhileIsToldWhereItIsKnown) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(8 * kMiB));
  Interval above{world_, guest};
  guest.alloc(12 * kMiB);
  Interval unknown{world_, guest};
  guest.alloc(2 * kMiB);
  EXPECT_EQ(world_.tidemark({"reset-peak", std::to_string(guest.pid())}).exit_code, 0);
  EXPECT_EQ(guest.finish().exit_code, 0);

  const nlohmann::json result = above.end();

  EXPECT_EQ(result.at("status"), "done");
  EXPECT_EQ(result.at("detail"), "the process ended meanwhile");
  EXPECT_EQ(result.at("peak").at("allocated_bytes"), 14 * kMiB);
  EXPECT_EQ(unknown.end().at("peak").at("allocated_bytes"), 14 * kMiB);
}

TEST_P(OwnPeak, ThatIsNotKnownWhenTheProcessEndedIsNull) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(20 * kMiB));
  Interval interval{world_, guest};
  guest.free(guest.alloc(2 * kMiB));  // less than the peak of all time: no trace of it stays
  EXPECT_EQ(guest.finish().exit_code, 0);

  const Outcome outcome = interval.finish();

  EXPECT_EQ(outcome.exit_code, 3) << describe(outcome);
  const nlohmann::json result = nlohmann::json::parse(outcome.out).at("results").at(0);
  EXPECT_EQ(result.at("status"), "gone");
  EXPECT_EQ(result.at("peak").at("allocated_bytes"), nullptr);
}

TEST_P(OwnPeak, HandsTheProgramsExitCodeOn) {
  Guest guest{shimmed_whole()};
  guest.alloc(1000);
  const std::string pid = std::to_string(guest.pid());

  EXPECT_EQ(world_.tidemark({"peak", pid, "--", "sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(world_.tidemark({"peak", pid, "--", "sh", "-c", "kill -TERM $$"}).exit_code, 128 + SIGTERM);
  EXPECT_EQ(world_.tidemark({"peak", pid, "--", "no such program"}).exit_code, 127);
  EXPECT_EQ(world_.tidemark({"peak", pid, "--", "/etc/passwd"}).exit_code, 126);
  EXPECT_EQ(world_.tidemark({"peak", pid, "--", "true"}).exit_code, 0);
}

TEST_P(OwnPeak, EndsAtEnterOrWhenItsTimeIsOver) {
  Guest guest{shimmed_whole()};
  guest.alloc(3 * kMiB);
  const std::string pid = std::to_string(guest.pid());
  Launch by_enter = world_.viewer({"peak", pid, "-q"});
  by_enter.input = "\nmore";

  const Outcome entered = run(by_enter);
  const Outcome timed = world_.tidemark({"peak", pid, "--for", "0"});

  EXPECT_EQ(entered.exit_code, 0) << describe(entered);
  const std::string numbers = " s: allocated 4.000 MiB, reserved 4.000 MiB, held 4.000 MiB\n";
  EXPECT_EQ(entered.out.rfind(pid + " " + GetParam().device() + ": peak of ", 0), 0U) << entered.out;
  EXPECT_NE(entered.out.find(numbers), std::string::npos) << entered.out;
  EXPECT_EQ(entered.err, "");
  EXPECT_EQ(timed.exit_code, 0) << describe(timed);
  EXPECT_NE(timed.out.find(numbers), std::string::npos) << timed.out;
}

TEST_P(OwnPeak, DoesNotBeginWhereNothingCouldEndIt) {
  Guest guest{shimmed()};
  guest.alloc(1000);

  Launch launch = world_.viewer({"peak", std::to_string(guest.pid())});
  launch.command.insert(launch.command.begin(), {"sh", "-c", "exec \"$0\" \"$@\" </dev/null"});
  const Outcome outcome = run(launch);

  EXPECT_EQ(outcome.exit_code, 2) << describe(outcome);
  EXPECT_NE(outcome.err.find("--for SEC"), std::string::npos) << describe(outcome);
}

TEST_P(OwnPeak, IsRefusedWhereNothingIsObeyed) {
  Launch closed = shimmed_whole();
  closed.environment["TIDEMARK_CONTROL"] = "off";
  Launch peaks = shimmed_whole();
  peaks.environment["TIDEMARK_CONTROL"] = "peaks";
  Guest first{closed};
  Guest second{peaks};
  first.alloc(1000);
  second.alloc(1000);

  EXPECT_EQ(world_.tidemark({"peak", std::to_string(first.pid()), "--for", "0"}).exit_code, 4);
  EXPECT_EQ(world_.tidemark({"peak", std::to_string(second.pid()), "--for", "0"}).exit_code, 0);
}

}  // namespace
}  // namespace tidemark::test
