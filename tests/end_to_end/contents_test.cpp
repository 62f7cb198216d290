// TIDEMARK_FILL: what an unmodified program finds in its memory.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class Contents : public GuestTest {
 protected:
  Launch filling(const char* fill, const char* variable, const char* value) const {
    Launch launch = shimmed_whole();
    launch.environment["TIDEMARK_FILL"] = fill;
    launch.environment[variable] = value;
    return launch;
  }
};
TIDEMARK_FOR_EVERY_GUEST(Contents);

TEST_P(Contents, AreZeroWhereverABlockComesFrom) {
  for (const char* mode : {"cache", "count"}) {
    for (const char* size : {"4096", "3145728"}) {
      Guest guest{filling("zero", "TIDEMARK_MODE", mode)};
      const std::string zeros = std::string{"0 "} + size;

      guest.alloc(std::stoull(size));
      EXPECT_EQ(guest.ask(std::string{"read 0 "} + size), zeros) << mode;
      EXPECT_EQ(guest.code(std::string{"write 0 7 "} + size), 0);
      guest.free(0);
      guest.alloc(std::stoull(size));
      EXPECT_EQ(guest.ask(std::string{"read 1 "} + size), zeros) << mode;
      EXPECT_EQ(guest.err(), "");
    }
  }
}

// Read after the free, as a program in error does.
TEST_P(Contents, ArePoisonOnceABlockIsFree) {
  for (const char* size : {"4096", "3145728"}) {
    Guest guest{filling("poison", "TIDEMARK_FREE", "strict")};
    guest.alloc(std::stoull(size));
    EXPECT_EQ(guest.code(std::string{"write 0 7 "} + size), 0);
    EXPECT_EQ(guest.code(std::string{"fill 0 1 "} + size), 0) << "still under way when the block is freed";

    guest.free(0);

    EXPECT_EQ(guest.ask(std::string{"read 0 "} + size), std::string{"255 "} + size);
  }
}

TEST_P(Contents, ArePoisonOnceAFastFreesFenceIsDone) {
  Guest guest{filling("poison", "TIDEMARK_FREE", "fast")};
  guest.alloc(4096);
  EXPECT_EQ(guest.code("fill 0 1 4096"), 0);
  guest.free(0);
  EXPECT_EQ(guest.code("sync"), 0);
  EXPECT_EQ(guest.ask("read 0 4096"), "1 4096") << "a fast free does nothing yet";

  guest.alloc(3 * kMiB);  // a miss looks for what is done

  EXPECT_EQ(guest.ask("read 0 4096"), "255 4096");
}

TEST_P(Contents, StayAsTheyAreByDefault) {
  Guest guest{shimmed_whole()};
  guest.alloc(4096);
  EXPECT_EQ(guest.code("write 0 7 4096"), 0);
  guest.free(0);

  guest.alloc(4096);

  EXPECT_EQ(guest.ask("read 1 4096"), "7 4096");
}

}  // namespace
}  // namespace tidemark::test
