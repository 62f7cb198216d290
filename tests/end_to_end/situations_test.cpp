// What else is loaded decides whether memory is cached, and says what the numbers mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class Situations : public GuestTest {
 protected:
  // An empty library of that file name.
  static std::string library(const std::string& name) { return TIDEMARK_TEST_LIBRARIES "/" + name; }

  [[nodiscard]] nlohmann::json process(const Guest& guest) const { return world_.process(guest.pid()); }
  // As soon as it says something else than `before`, which takes a beat and then a call of the program.
  [[nodiscard]] nlohmann::json process_after(Guest& guest, const char* key, const nlohmann::json& before) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    nlohmann::json seen = process(guest);
    while (seen[key] == before && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
      guest.free(guest.alloc(512));
      seen = process(guest);
    }
    return seen;
  }
};
TIDEMARK_FOR_EVERY_GUEST(Situations);

TEST_P(Situations, WithACardsLibraryNothingIsHandedOutTwice) {
  Launch launch = shimmed();
  launch.preload.push_back(library("libibverbs.so.1"));
  Guest guest{launch};
  guest.free(guest.alloc(1000));

  const nlohmann::json seen = process(guest);
  EXPECT_EQ(seen["mode"], "count");
  EXPECT_EQ(seen["mode_reason"], "libibverbs.so.1 is loaded: a network card may go on using device memory");
  EXPECT_EQ(seen["devices"][0]["cache"]["passed_through"], 1);
  EXPECT_EQ(usage(guest), (Usage{0, 0, 1000, 0}));
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

// Tools that check each allocation by itself.
TEST_P(Situations, WithADebuggerOrSanitizerNothingIsHandedOutTwice) {
  for (const char* name : {"libcudadebugger.so.1", "libsanitizer-collection.so"}) {
    Launch launch = shimmed();
    launch.preload.push_back(library(name));
    Guest guest{launch};
    guest.free(guest.alloc(1000));

    const nlohmann::json seen = process(guest);
    EXPECT_EQ(seen["mode"], "count") << name;
    EXPECT_THAT(seen["mode_reason"].get<std::string>(), testing::StartsWith(name + std::string{" is loaded: "}));
    EXPECT_EQ(usage(guest), (Usage{0, 0, 1000, 0})) << name;
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
  }
}

TEST_P(Situations, ALibraryThatComesLaterEndsTheCacheForGood) {
  Guest guest{shimmed()};
  const int block = guest.alloc(1000);
  guest.free(guest.alloc(1000));
  ASSERT_EQ(process(guest)["mode"], "cache");

  ASSERT_EQ(guest.code("load " + library("libgdrapi.so.2")), 0);
  const nlohmann::json seen = process_after(guest, "mode", "cache");
  EXPECT_EQ(seen["mode"], "count");
  EXPECT_THAT(seen["mode_reason"].get<std::string>(), testing::StartsWith("libgdrapi.so.2 is loaded: "));

  const auto passed = device(guest)["cache"]["passed_through"].get<std::uint64_t>();
  guest.free(guest.alloc(2000));
  EXPECT_EQ(device(guest)["cache"]["passed_through"], passed + 1);
  guest.free(block);
  EXPECT_EQ(usage(guest).reserved, 0u);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

// The first look after the load was the second device's: the first has to hear of it too.
TEST_P(Situations, EveryDeviceHearsOfALibraryThatCame) {
  Guest guest{shimmed()};
  guest.free(guest.alloc(1000));
  ASSERT_EQ(guest.code("load " + library("libgdrapi.so.2")), 0);
  ASSERT_EQ(guest.code("device 1"), 0);
  guest.alloc(1000);

  const nlohmann::json seen = process(guest);
  EXPECT_EQ(seen["mode"], "count");
  EXPECT_THAT(seen["mode_reason"].get<std::string>(), testing::StartsWith("libgdrapi.so.2 is loaded: "));
  ASSERT_EQ(guest.code("device 0"), 0);
  guest.free(guest.alloc(1000));
  EXPECT_EQ(device(guest, 0)["cache"]["hits"], 0);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

// Nothing came that would end a cache: there was none, and the line of the start says so.
TEST_P(Situations, ThatWereSettledBeforeAreNotAnnounced) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_MODE"] = "count";
  launch.environment["TIDEMARK_LOG"] = "info";
  Guest guest{launch};
  guest.free(guest.alloc(1000));

  EXPECT_THAT(guest.err(), testing::HasSubstr("mode count"));
  EXPECT_THAT(guest.err(), testing::Not(testing::HasSubstr("memory is only counted")));
  EXPECT_EQ(guest.finish().exit_code, 0);
}

// Whether anybody watches has nothing to do with it: the driver sees each call.
TEST_P(Situations, WithoutASegmentTheCacheEndsAsWell) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_SHM"] = "off";
  launch.environment["TIDEMARK_LOG"] = "info";
  Guest guest{launch};
  guest.free(guest.alloc(1000));
  ASSERT_EQ(guest.code("load " + library("libgdrapi.so.2")), 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (guest.err().find("memory is only counted: libgdrapi") == std::string::npos &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    guest.free(guest.alloc(512));
  }
  EXPECT_THAT(guest.err(), testing::HasSubstr("memory is only counted: libgdrapi.so.2 is loaded"));
  EXPECT_EQ(guest.finish().exit_code, 0);
}

TEST_P(Situations, WhoAsksForTheCacheHasIt) {
  Launch launch = shimmed();
  launch.preload.push_back(library("libibverbs.so.1"));
  launch.environment["TIDEMARK_MODE"] = "cache";
  Guest guest{launch};
  guest.free(guest.alloc(1000));

  EXPECT_EQ(process(guest)["mode"], "cache");
  EXPECT_EQ(process(guest)["mode_reason"], nullptr);
  EXPECT_EQ(usage(guest).reserved, 2 * kMiB);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

TEST_P(Situations, AProgramThatPoolsForItselfIsKnownByItsLibrary) {
  Guest guest{shimmed()};
  guest.alloc(1000);
  EXPECT_EQ(process(guest)["inner_pool"], nullptr);

  ASSERT_EQ(guest.code("load " + library("librmm.so")), 0);
  EXPECT_EQ(process_after(guest, "inner_pool", nullptr)["inner_pool"], "rmm");
  EXPECT_EQ(process(guest)["mode"], "cache");
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

TEST_P(Situations, APoolThatIsTurnedOffIsNone) {
  Launch launch = shimmed();
  launch.preload.push_back(library("libc10_cuda.so"));
  {
    Guest guest{launch};
    guest.alloc(1000);
    EXPECT_EQ(process(guest)["inner_pool"], "torch");
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
  }
  launch.environment["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1";
  Guest guest{launch};
  guest.alloc(1000);
  EXPECT_EQ(process(guest)["inner_pool"], nullptr);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

#ifdef TIDEMARK_TEST_CUDA
// Before us and behind us; counted once either way.
TEST(Interposers, OnEitherSideMakeTheLibraryCountOnly) {
  const ShimWorld world;
  for (const bool is_first : {true, false}) {
    Launch launch = world.under_shim({TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_hold", "1000"});
    const std::string wrapper = TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_wrapper.so";
    launch.preload.insert(is_first ? launch.preload.begin() : launch.preload.end(), wrapper);
    Conversation program{launch};
    for (std::string line = program.read_line(); line != "holding"; line = program.read_line()) {
      ASSERT_NE(line, "") << program.err();
    }

    const nlohmann::json seen = world.process(program.pid());
    EXPECT_EQ(seen["mode"], "count");
    EXPECT_EQ(seen["mode_reason"], "cuda_wrapper.so stands in front of the driver too");
    EXPECT_EQ(usage_of(seen["devices"][0]), (Usage{1000, 1000, 1000, 1000}));
    EXPECT_EQ(program.finish().exit_code, 0);
  }
}
#endif

}  // namespace
}  // namespace tidemark::test
