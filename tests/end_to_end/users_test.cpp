// A process that gives rights up after its first allocation: it runs on as ever, and what it may not remove itself at
// its end is garbage to the next viewer.
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

}  // namespace
}  // namespace tidemark::test
