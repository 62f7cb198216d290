// A limit that is set from outside holds for the program's next allocation, and can be taken away again.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class LiveLimit : public GuestTest {
 protected:
  [[nodiscard]] nlohmann::json set_limit(const Guest& guest, const std::string& amount) const {
    const Outcome outcome = world_.tidemark({"limit", std::to_string(guest.pid()), amount, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    return nlohmann::json::parse(outcome.out).at("results").at(0);
  }
};
TIDEMARK_FOR_EVERY_GUEST(LiveLimit);

TEST_P(LiveLimit, RefusesWhatWouldPassIt) {
  Guest guest{shimmed_whole()};
  guest.alloc(4 * kMiB);

  const nlohmann::json set = set_limit(guest, "8MiB");

  EXPECT_EQ(set.at("before").at("limit_bytes"), nullptr);
  EXPECT_EQ(set.at("after").at("limit_bytes"), 8 * kMiB);
  EXPECT_EQ(set.at("detail"), nullptr);
  EXPECT_EQ(device(guest).at("limit_bytes"), 8 * kMiB);
  EXPECT_EQ(guest.ask("alloc 6291456"), "error 2");
  guest.alloc(4 * kMiB);

  EXPECT_EQ(set_limit(guest, "none").at("after").at("limit_bytes"), nullptr);
  guest.alloc(6 * kMiB);
}

TEST_P(LiveLimit, BelowWhatIsInUseRefusesGrowthUntilFreesBringItBelow) {
  Guest guest{shimmed_whole()};
  const int large = guest.alloc(8 * kMiB);
  guest.alloc(2 * kMiB);

  const nlohmann::json set = set_limit(guest, "6MiB");

  EXPECT_EQ(set.at("status"), "done");
  EXPECT_EQ(set.at("detail"), "more is reserved: growth is refused until frees bring it below");
  EXPECT_EQ(guest.ask("alloc 2097152"), "error 2");
  guest.free(large);
  guest.alloc(4 * kMiB);
  EXPECT_EQ(usage(guest).reserved, 6 * kMiB);
}

TEST_P(LiveLimit, InPercentIsAShareOfTheDevice) {
  Launch launch = shimmed_whole();
  launch.environment[GetParam().memory_knob] = std::to_string(64 * kMiB);
  Guest guest{launch};
  guest.alloc(1000);

  EXPECT_EQ(set_limit(guest, "25%").at("after").at("limit_bytes"), 16 * kMiB);
  EXPECT_EQ(guest.ask("alloc 16777216"), "error 2");
}

}  // namespace
}  // namespace tidemark::test
