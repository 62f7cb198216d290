// What a program does wrong gets the driver's own answer, and nothing is corrupted by it.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class WrongFrees : public GuestTest {
 protected:
  // The answers to all commands that do not name an address.
  static std::vector<std::string> answers(const Launch& launch, const std::vector<std::string>& commands) {
    Guest guest{launch};
    std::vector<std::string> all;
    for (const std::string& command : commands) {
      const std::string answer = guest.ask(command);
      all.push_back(command + " -> " + (answer.rfind("ok ", 0) == 0 ? "ok" : answer));
    }
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
    return all;
  }
};
TIDEMARK_FOR_EVERY_GUEST(WrongFrees);

TEST_P(WrongFrees, GetTheNativeAnswer) {
  for (const std::vector<std::string>& commands : {
           std::vector<std::string>{"alloc 1000", "free 0", "free 0"},
           {"alloc 3145728", "free 0", "free 0"},
           {"alloc 1000", "alloc 1000", "free 1", "free 1", "free 0", "free 0"},
           {"alloc 4096", "free-in 0 1", "free-in 0 512", "free-in 0 4095", "free 0"},
           {"alloc 3145728", "free-in 0 2097152", "free-in 0 512", "free 0"},
           {"alloc 1000", "free-at 0x10", "free-at 0x7fff00000000", "free-at 0xffffffffffffffff", "free 0"},
           {"free-at 0x10"},
           {"free-at 0"},
           {"alloc 1000", "free-at 0", "free 0"},
           {"alloc-null"},
           {"alloc 1000", "alloc-null"},
           {"alloc 0"},
           {"alloc 1000", "alloc 0"},
           {"alloc 18446744073709551615", "alloc 9223372036854775808"},
           {"alloc 1000", "alloc 18446744073709551615", "alloc 18446744073709550000"},
           {"alloc 1000", "reset", "free 0", "alloc 1000", "free 1"},
           {"device 7", "device -1"},
       }) {
    EXPECT_EQ(answers(shimmed(), commands), answers(native(), commands));
  }
}

TEST_P(WrongFrees, ChangeNoCounter) {
  Guest guest{shimmed_whole()};
  guest.alloc(1000);
  guest.alloc(1000);
  guest.free(1);
  const Usage before = usage(guest);

  for (const char* command : {"free 1", "free-in 0 1", "free-in 0 512", "free-at 0x10"}) {
    EXPECT_NE(guest.code(command), 0) << command;
  }

  EXPECT_EQ(usage(guest), before);
  EXPECT_EQ(guest.code("write 0 7 1000"), 0);
  EXPECT_EQ(guest.ask("read 0 1000"), "7 1000");
  guest.free(0);
  EXPECT_EQ(usage(guest).allocated, 0u);
}

// A second free of our own is refused by us, and known.
TEST_P(WrongFrees, OfPointersThatNothingKnowsAreCounted) {
  Guest guest{shimmed_whole()};
  guest.alloc(1000);
  for (const char* command : {"free-at 0x10", "free-in 0 512", "free-at 0", "free-at 0x7fff00000000"}) {
    guest.ask(command);
  }

  Outcome shown;
  const auto says = [&](const char* text) { return shown.out.find(text) != std::string::npos; };
  do {  // told with each heartbeat; a test that waits for ever is ended by its time limit
    shown = world_.tidemark({"show", std::to_string(guest.pid())});
  } while (shown.exit_code == 0 && !says("frees of pointers that nothing here knows 2: "));

  EXPECT_EQ(shown.exit_code, 0) << describe(shown);
  guest.free(0);
}

}  // namespace
}  // namespace tidemark::test
