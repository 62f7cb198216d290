// A freed block isn't handed out while a stream still uses it. The simulator completes work as late as it may, so a
// block handed out too early is overwritten by the old work in every run; a driver whose synchronise does nothing shows
// that these tests would find it.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class EarlyReuse : public GuestTest {
 protected:
  // The old owner's work writes 1, the new owner writes 2: what stands there in the end?
  static std::string contents_after_reuse(const Launch& launch, const std::string& size) {
    Guest guest{launch};
    EXPECT_EQ(guest.ask("alloc " + size).substr(0, 5), "ok 0 ");
    EXPECT_EQ(guest.code("fill 0 1 " + size), 0);
    EXPECT_EQ(guest.code("free 0"), 0);
    EXPECT_EQ(guest.ask("alloc " + size).substr(0, 5), "ok 1 ");
    EXPECT_EQ(guest.code("write 1 2 " + size), 0);
    // Each call of the driver is a tick of the simulator's clock: whatever is still under way now ends.
    for (int i = 0; i < 64; ++i) guest.ask("info");
    return guest.ask("read 1 " + size);
  }
};
TIDEMARK_FOR_EVERY_GUEST(EarlyReuse);

TEST_P(EarlyReuse, DoesNotHappen) {
  for (const char* size : {"4096", "3145728"}) {
    EXPECT_EQ(contents_after_reuse(shimmed(), size), std::string("2 ") + size);
    EXPECT_EQ(contents_after_reuse(native(), size), std::string("2 ") + size);
  }
}

TEST_P(EarlyReuse, DoesNotHappenWithFastFrees) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_FREE"] = "fast";

  for (const char* size : {"4096", "3145728"}) {
    EXPECT_EQ(contents_after_reuse(launch, size), std::string("2 ") + size);
  }
}

TEST_P(EarlyReuse, IsFoundWhereTheFenceIsMissing) {
  if (GetParam().name == "CudaRuntime")
    GTEST_SKIP() << "the runtime asks its driver by handle: nothing can stand between";
  Launch launch = shimmed();
  launch.preload.push_back(test_program("no_fence_" + GetParam().backend + ".so"));
  launch.environment["TIDEMARK_MODE"] = "cache";  // which a second library in front of the driver ends otherwise

  EXPECT_EQ(contents_after_reuse(launch, "4096"), "1 4096");
}

}  // namespace
}  // namespace tidemark::test
