// A device that reports an error which stays: nothing is cached on it any more, and viewers see that and why.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class SickDevice : public GuestTest {
 protected:
  // The driver's first free fails, and comes with the program's: nothing is kept.
  [[nodiscard]] Launch launch() const {
    Launch launch = shimmed();
    launch.environment["TIDEMARK_ALLOC_CONF"] = "large:whole,max_cached_mb:0";
    launch.environment["CUDA_SIM_FAIL"] = "cuMemFree_v2:1=719";
    launch.environment["MTIA_SIM_FAIL"] = "mtiaFree:1=999";
    return launch;
  }
};
TIDEMARK_FOR_EVERY_GUEST(SickDevice);

TEST_P(SickDevice, ShowsInTheModeOfTheProcess) {
  Guest guest{launch()};
  guest.alloc(1000);
  ASSERT_EQ(world_.process(guest.pid())["mode"], "cache");
  ASSERT_TRUE(world_.process(guest.pid())["mode_reason"].is_null());

  guest.free(0);

  const nlohmann::json process = world_.process(guest.pid());
  EXPECT_EQ(process["mode"], "count");
  EXPECT_EQ(process["mode_reason"], GetParam().device() + " reported an error that stays, and passes through");
}

TEST_P(SickDevice, LeavesTheOthersTheirs) {
  Guest guest{launch()};
  guest.alloc(1000);
  ASSERT_EQ(guest.code("device 1"), 0);
  guest.alloc(1000);

  guest.free(1);

  const nlohmann::json process = world_.process(guest.pid());
  EXPECT_EQ(process["mode"], "cache");
  EXPECT_EQ(process["mode_reason"], GetParam().device(1) + " reported an error that stays, and passes through");
}

}  // namespace
}  // namespace tidemark::test
