// Phases of a C program on the simulated MTIA driver: on its threads' stacks, and by ticket.
#include <gtest/gtest.h>

#include <string>

#include "client/include/tidemark/tidemark.h"
#include "tests/client/api_guest.hpp"

namespace tidemark::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::string code(int number) { return std::to_string(number); }

class PhasesOfAProgram : public testing::Test {
 protected:
  const ShimWorld world_;
};

TEST_F(PhasesOfAProgram, NestAndDisturbNobody) {
  ApiGuest guest{world_.under_shim({})};
  const std::string held = guest.alloc(4 * kMiB);
  EXPECT_EQ(guest.ask("push outer"), "0");
  guest.ask("free " + guest.alloc(64 * kMiB));
  EXPECT_EQ(guest.ask("push inner"), "0");
  guest.ask("free " + guest.alloc(8 * kMiB));
  EXPECT_EQ(guest.ask("name"), "inner");
  EXPECT_EQ(guest.ask("reset -"), "0");
  EXPECT_EQ(guest.ask("thread pop"), "-1001 0 0 0 0") << "another thread's stack is its own";
  EXPECT_EQ(guest.ask("thread push brief"), "0") << "and ends with it";

  EXPECT_EQ(guest.ask("phase mtia:0").substr(0, 10), "0 12582912");
  EXPECT_EQ(guest.ask("phase mtia:1"), "0 0 0 0 0");
  EXPECT_EQ(guest.ask("pop").substr(0, 10), "0 12582912");
  EXPECT_EQ(guest.ask("name"), "outer");
  EXPECT_EQ(guest.ask("pop").substr(0, 10), "0 71303168");
  EXPECT_EQ(guest.ask("name"), "-");
  EXPECT_EQ(guest.ask("numbers -").substr(0, 15), "4194304 4194304") << "the process's own peak was reset between";
}

// Its stack was destroyed before handlers of atexit() and destructors of static objects, which then wrote into it.
TEST_F(PhasesOfAProgram, WorkWhileItEnds) {
  Launch launch = world_.under_shim({});
  launch.environment["MALLOC_PERTURB_"] = "165";  // what was given back is of no use any more
  launch.environment["TIDEMARK_LOG"] = "off";
  ApiGuest guest{launch};
  guest.alloc(4 * kMiB);
  EXPECT_EQ(guest.ask("set mtia 1"), "0");
  EXPECT_EQ(guest.ask("push a-name-that-is-longer-than-a-string-has-room-for-itself"), "0");
  EXPECT_EQ(guest.ask("push inner"), "0");
  guest.write_line("exit");

  EXPECT_EQ(guest.ask("name"), "inner");
  guest.ask("free " + guest.alloc(64 * kMiB));
  EXPECT_EQ(guest.ask("pop").substr(0, 10), "0 67108864");
  EXPECT_EQ(guest.ask("name"), "a-name-that-is-longer-than-a-string-has-room-for-itself");
  EXPECT_EQ(guest.ask("phase mtia:0").substr(0, 9), "0 4194304");
  EXPECT_EQ(guest.ask("push late"), "0");
  EXPECT_EQ(guest.ask("thread push brief"), "0");
  EXPECT_EQ(guest.ask("pop").substr(0, 1), "0");
  EXPECT_EQ(guest.ask("set mtia 0"), "0");
  EXPECT_EQ(guest.ask("numbers -").substr(0, 15), "4194304 4194304");

  EXPECT_EQ(guest.ask("fork").substr(0, 6), "child ");
  guest.alloc(6 * kMiB);
  EXPECT_EQ(guest.ask("pop"), code(TIDEMARK_ERROR_NOT_INITIALIZED) + " 0 0 0 0") << "its parent's";
  EXPECT_EQ(guest.ask("push own"), "0");
  EXPECT_EQ(guest.ask("pop").substr(0, 9), "0 6291456");
  EXPECT_EQ(guest.finish().exit_code, 0);
}

TEST_F(PhasesOfAProgram, MayOverlap) {
  ApiGuest guest{world_.under_shim({})};
  guest.alloc(4 * kMiB);
  const std::string first = guest.ask("begin");
  guest.ask("free " + guest.alloc(64 * kMiB));
  const std::string second = guest.ask("thread begin");
  guest.ask("free " + guest.alloc(8 * kMiB));

  EXPECT_EQ(guest.ask("read " + first + " -").substr(0, 10), "0 71303168");
  EXPECT_EQ(guest.ask("end " + first), "0");
  guest.ask("free " + guest.alloc(16 * kMiB));
  EXPECT_EQ(guest.ask("thread read " + second + " mtia:0").substr(0, 10), "0 20971520");
  EXPECT_EQ(guest.ask("read " + second + " mtia:1"), "0 0 0 0 0");
  EXPECT_EQ(guest.ask("name"), "-") << "they are on nobody's stack";
  EXPECT_EQ(guest.ask("end " + second), "0");
  for (const std::string& ended : {first, second, std::string{"123"}, std::string{"-1"}}) {
    EXPECT_EQ(guest.ask("read " + ended + " -"), code(TIDEMARK_ERROR_INVALID_ARGUMENT) + " 0 0 0 0") << ended;
    EXPECT_EQ(guest.ask("end " + ended), code(TIDEMARK_ERROR_INVALID_ARGUMENT)) << ended;
  }
}

TEST_F(PhasesOfAProgram, AreZerosWithoutTheLibrary) {
  ApiGuest guest{ShimWorld::natively({})};
  guest.alloc(4 * kMiB);

  EXPECT_EQ(guest.ask("begin"), "0");
  EXPECT_EQ(guest.ask("read 0 -"), "0 0 0 0 0");
  EXPECT_EQ(guest.ask("end 0"), "0");
  EXPECT_EQ(guest.ask("end 7"), code(TIDEMARK_ERROR_INVALID_ARGUMENT));
}

TEST_F(PhasesOfAProgram, AreAtMostSixtyFourAtATime) {
  ApiGuest guest{world_.under_shim({})};
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(guest.ask("push some"), "0") << i;
  }

  EXPECT_EQ(guest.ask("push one-more"), code(TIDEMARK_ERROR_BUSY));
  EXPECT_EQ(guest.ask("pop"), "0 0 0 0 0");
  EXPECT_EQ(guest.ask("push one-more"), "0");
}

}  // namespace
}  // namespace tidemark::test
