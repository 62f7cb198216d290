// A free waits for the device. Where a viewer has memory given back, nobody else waits with it.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class BusyDevice : public GuestTest {
 protected:
  [[nodiscard]] Outcome ask(const Guest& guest, const std::string& command, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{command, std::to_string(guest.pid())};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return world_.tidemark(arguments);
  }
};
TIDEMARK_FOR_EVERY_GUEST(BusyDevice);

TEST_P(BusyDevice, KeepsNoOtherRequestWaiting) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(3 * kMiB));
  ASSERT_EQ(guest.ask("hold"), "0");
  std::vector<std::string> how{"--timeout", "0.1"};
  if (GetParam().backend == "cuda") how.emplace_back("--now");

  EXPECT_EQ(ask(guest, "empty-cache", how).exit_code, 6) << "the device is busy";
  EXPECT_EQ(ask(guest, "reset-peak").exit_code, 0);
  EXPECT_EQ(usage(guest).peak, 0u);

  guest.ask("let-go");
  how[1] = "30";
  EXPECT_EQ(ask(guest, "empty-cache", how).exit_code, 0);
  EXPECT_EQ(usage(guest), (Usage{0, 0, 0, 0}));
}

}  // namespace
}  // namespace tidemark::test
