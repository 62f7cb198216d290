// The ways from an exported function into the library: what they leave of the thread's errno.
#include "shim/entry/intercept.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace tidemark::entry {
namespace {

constexpr int kPrograms = 77;

TEST(Intercept, LeavesTheProgramsErrnoAfterACallThatWasOurs) {
  errno = kPrograms;
  const int code = intercept<Starts::Yes>(
      [](runtime::Runtime&) {
        errno = ENOMEM;
        return runtime::Answer{0};
      },
      [] { return 1; });

  EXPECT_EQ(errno, kPrograms);
  EXPECT_EQ(code, 0);
}

TEST(Intercept, ShowsTheDriverTheProgramsErrnoAndTheProgramTheDrivers) {
  int seen = 0;

  errno = kPrograms;
  const int code = intercept<Starts::Yes>(
      [](runtime::Runtime&) {
        errno = ENOMEM;
        return runtime::Answer<int>{std::nullopt};
      },
      [&] {
        seen = errno;
        errno = EAGAIN;
        return 1;
      });

  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(seen, kPrograms);
  EXPECT_EQ(code, 1);
}

TEST(Beside, LeavesErrnoAsTheDriverLeftIt) {
  bool ran = false;

  errno = EAGAIN;
  beside([&] {
    ran = true;
    errno = ENOMEM;
  });

  EXPECT_EQ(errno, EAGAIN);
  EXPECT_TRUE(ran);
}

TEST(Beside, DoesNothingInsideOneOfOurOwnDriverCalls) {
  bool ran = false;

  const hook::ReentryGuard inside;
  beside([&] { ran = true; });

  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace tidemark::entry
