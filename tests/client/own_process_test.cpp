// tidemark.h in a C program that allocates on the simulated MTIA driver, under the library and without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "client/include/tidemark/tidemark.h"
#include "tests/client/api_guest.hpp"

namespace tidemark::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::string code(int number) { return std::to_string(number); }

// The guide's flow ends at the same numbers, whatever went before.
TEST(MtiaGuide, RunsInC) {
  const ShimWorld world;

  const Outcome shimmed = run(world.under_shim({test_program("client_mtia_guide")}));
  const Outcome native = run(ShimWorld::natively({test_program("client_mtia_guide")}));

  EXPECT_EQ(shimmed.exit_code, 0) << describe(shimmed);
  EXPECT_EQ(shimmed.out,
            "two tensors: allocated 8388608, peak 8388608\n"
            "one freed: allocated 4194304, peak 8388608\n"
            "reset: allocated 4194304, peak 4194304\n"
            "all freed, cache empty: allocated 0, reserved 0\n");
  EXPECT_EQ(native.exit_code, 0) << describe(native);
  EXPECT_EQ(native.out,
            "two tensors: allocated 0, peak 0\none freed: allocated 0, peak 0\nreset: allocated 0, peak 0\n"
            "all freed, cache empty: allocated 0, reserved 0\n");
}

class OwnProcess : public testing::Test {
 protected:
  const ShimWorld world_;
};

// One row per function and argument: before the first allocation, under the library and without.
TEST_F(OwnProcess, IsUninitialisedBeforeItsFirstAllocation) {
  ApiGuest shimmed{world_.under_shim({})};
  ApiGuest native{ShimWorld::natively({})};
  EXPECT_EQ(shimmed.ask("loaded"), "1 0 0 mtia");
  EXPECT_EQ(native.ask("loaded"), "0 0 0 mtia");

  for (ApiGuest* guest : {&shimmed, &native}) {
    for (const char* device : {"-", "mtia", "mtia:0", "mtia:99", "cuda:0", "0", "7"}) {
      SCOPED_TRACE(std::string{guest == &native ? "native " : ""} + device);
      const std::string word{device};
      EXPECT_EQ(guest->ask("stats " + word), code(TIDEMARK_ERROR_NOT_INITIALIZED) + " 0 0 0 0 0");
      EXPECT_EQ(guest->ask("stat " + word + " max_split_size"), "0");
      EXPECT_EQ(guest->ask("numbers " + word), "0 0 0 0");
      EXPECT_EQ(guest->ask("reset " + word), "0");
      EXPECT_EQ(guest->ask("accumulated " + word), "0");
      EXPECT_EQ(guest->ask("empty " + word), "0");
      EXPECT_EQ(guest->ask("limit " + word + " 1000000"), code(TIDEMARK_ERROR_NOT_INITIALIZED));
    }
    EXPECT_EQ(guest->ask("reset all"), "0");
    EXPECT_EQ(guest->ask("devices"), "");
    EXPECT_EQ(guest->ask("push early"), "0");
    EXPECT_EQ(guest->ask("name"), "early");
    EXPECT_EQ(guest->ask("pop"), "0 0 0 0 0");
    EXPECT_EQ(guest->ask("driver mtia"), "2 0");
    EXPECT_EQ(guest->ask("observe"), "0");
    EXPECT_EQ(guest->ask("record - - 0"), "0");
  }
  EXPECT_EQ(native.ask("record all all 0"), code(TIDEMARK_ERROR_NOT_INITIALIZED));
  EXPECT_EQ(native.ask("export /tmp/none.tmsnap"), code(TIDEMARK_ERROR_NOT_INITIALIZED));
  EXPECT_EQ(native.ask("detail"), "this process does not run under the library; start it with 'tidemark run -- ...'");
  EXPECT_TRUE(world_.files().empty()) << "asking makes nothing";
}

TEST_F(OwnProcess, RefusesWhatIsNoDeviceKeyOrFormat) {
  ApiGuest guest{world_.under_shim({})};
  guest.alloc(4 * kMiB);

  for (const char* device : {"mtia:", "mtia:x", "mtia:-1", "gpu:0", "cpu", "", "mtia:0x1", "99999999999"}) {
    EXPECT_EQ(guest.ask("numbers " + std::string{*device == '\0' ? "'" : device}), "-1001 -1001 -1001 -1001") << device;
  }
  EXPECT_EQ(guest.ask("numbers mtia:99"), "-1003 -1003 -1003 -1003");
  EXPECT_EQ(guest.ask("detail"), "there is no mtia:99; the driver has 2 devices, numbered from 0");
  EXPECT_EQ(guest.ask("stats mtia:2"), code(TIDEMARK_ERROR_NO_SUCH_DEVICE) + " 0 0 0 0 0");
  EXPECT_EQ(guest.ask("reset mtia:2"), code(TIDEMARK_ERROR_NO_SUCH_DEVICE));
  EXPECT_EQ(guest.ask("stats all"), code(TIDEMARK_ERROR_INVALID_ARGUMENT) + " 0 0 0 0 0");
  EXPECT_EQ(guest.ask("stat - allocated_bytes"), code(TIDEMARK_ERROR_INVALID_ARGUMENT));
  EXPECT_EQ(guest.ask("stat - -"), code(TIDEMARK_ERROR_INVALID_ARGUMENT));
  EXPECT_EQ(guest.ask("record some all 0"), code(TIDEMARK_ERROR_INVALID_ARGUMENT));
  EXPECT_EQ(guest.ask("record all some 0"), code(TIDEMARK_ERROR_INVALID_ARGUMENT));
  for (const char* path : {"memory.txt", ".json", ".tmsnap", "memory.json/", "some/.pickle", "json"}) {
    EXPECT_EQ(guest.ask("export " + std::string{path}), code(TIDEMARK_ERROR_INVALID_ARGUMENT)) << path;
  }
  EXPECT_EQ(guest.ask("driver metal"), "-1001 -1001");
  EXPECT_EQ(guest.ask("set mtia 2"), code(TIDEMARK_ERROR_NO_SUCH_DEVICE));
  EXPECT_EQ(guest.ask("set mtia -1"), code(TIDEMARK_ERROR_NO_SUCH_DEVICE));
  EXPECT_EQ(guest.ask("pop"), "-1001 0 0 0 0");
  EXPECT_EQ(guest.ask("ignore"), code(TIDEMARK_ERROR_INVALID_ARGUMENT)) << "nobody is attached";
}

TEST_F(OwnProcess, HasTheNumbersOfEachForm) {
  ApiGuest guest{world_.under_shim({})};
  guest.alloc(4 * kMiB);

  for (const char* device : {"-", "mtia", "mtia:0", "0"}) {
    EXPECT_EQ(guest.ask("numbers " + std::string{device}), "4194304 4194304 20971520 20971520") << device;
  }
  EXPECT_EQ(guest.ask("numbers mtia:1"), "0 0 0 0") << "there, and not used yet";
  EXPECT_EQ(guest.ask("stat mtia:1 max_split_size"), "-1");
  EXPECT_EQ(guest.ask("loaded"), "1 0 1 mtia");
  EXPECT_EQ(guest.ask("devices"), "mtia:0");
  EXPECT_EQ(guest.ask("device 1"), "0");
  EXPECT_EQ(guest.ask("numbers -"), "0 0 0 0") << "the current device is another now";
  guest.alloc(6 * kMiB);
  EXPECT_EQ(guest.ask("numbers -"), "6291456 6291456 20971520 20971520");
  EXPECT_EQ(guest.ask("driver mtia"), "2 1");
  EXPECT_EQ(guest.ask("set mtia 0"), "0");
  EXPECT_EQ(guest.ask("numbers -"), "4194304 4194304 20971520 20971520");
  EXPECT_EQ(guest.ask("devices"), "mtia:0 mtia:1");
}

TEST_F(OwnProcess, ResetsEmptiesAndLimits) {
  ApiGuest guest{world_.under_shim({})};
  const std::string block = guest.alloc(4 * kMiB);
  EXPECT_EQ(guest.ask("free " + guest.alloc(8 * kMiB)), "0");

  EXPECT_EQ(guest.ask("numbers -"), "4194304 12582912 20971520 20971520");
  EXPECT_EQ(guest.ask("reset -"), "0");
  EXPECT_EQ(guest.ask("numbers -"), "4194304 4194304 20971520 20971520") << "never below what is current";
  EXPECT_EQ(guest.ask("stat - allocation.all.allocated"), "2");
  EXPECT_EQ(guest.ask("accumulated mtia:0"), "0");
  EXPECT_EQ(guest.ask("stat - allocation.all.allocated"), "0");
  EXPECT_EQ(guest.ask("free " + block), "0");
  EXPECT_EQ(guest.ask("empty mtia"), "0");
  EXPECT_EQ(guest.ask("numbers -"), "0 4194304 0 20971520");
  EXPECT_EQ(guest.ask("limit - 33554432"), "0");
  EXPECT_EQ(guest.ask("limited -"), "33554432");
  EXPECT_EQ(guest.ask("info -"), "0 33554432 33554432") << "as the program's own question is answered";
  EXPECT_EQ(guest.ask("alloc 67108864"), "error 2");
  EXPECT_EQ(guest.ask("limit all 0"), "0");
  EXPECT_EQ(guest.ask("limited -"), "0");
  EXPECT_EQ(guest.ask("alloc 67108864"), "ok 0");
}

// With the process held still: each of the 122 keys and ours, from inside and as the viewer reads them.
TEST_F(OwnProcess, SaysWhatTheViewerSays) {
  ApiGuest guest{world_.under_shim({})};
  guest.ask("free " + guest.alloc(30 * kMiB));
  guest.alloc(700);
  guest.alloc(5 * kMiB);
  guest.ask("reset -");
  guest.ask("free " + guest.alloc(900'000));

  const nlohmann::json device = world_.device(guest.pid(), "mtia:0");
  ASSERT_EQ(device["stats"].size(), 122U);

  for (const auto& [key, value] : device["stats"].items()) {
    EXPECT_EQ(guest.ask("stat - " + key), std::to_string(value.get<std::int64_t>())) << key;
  }
  for (const char* group : {"cache", "held", "lifetime_peak"}) {
    for (const auto& [name, value] : device[group].items()) {
      const std::string key = std::string{group} + "." + name;
      EXPECT_EQ(guest.ask("stat - " + key), std::to_string(value.get<std::int64_t>())) << key;
    }
  }
}

TEST_F(OwnProcess, TellsObserversOfEachFailureWithoutALock) {
  Launch launch = world_.under_shim({});
  launch.environment["MTIA_SIM_DRAM"] = "256MiB";
  launch.environment["TIDEMARK_LOG"] = "off";
  ApiGuest guest{launch};
  EXPECT_EQ(guest.alloc(100 * kMiB), "0");
  EXPECT_EQ(guest.ask("observe"), "0");

  EXPECT_EQ(guest.ask("alloc 209715200"), "error 2");

  // Asked inside: what was allocated, the failure counted; slot 0 was freed by the observer.
  EXPECT_EQ(guest.ask("observed"), "1 0 209715200 268435456 163577856 104857600 1 0");
  EXPECT_EQ(guest.ask("numbers -"), "0 104857600 104857600 104857600");
  EXPECT_EQ(guest.ask("thread alloc 1073741824"), "error 2");
  EXPECT_EQ(guest.ask("observed").substr(0, 14), "2 0 1073741824") << "in whichever thread";
  EXPECT_EQ(guest.ask("ignore"), "0");
  EXPECT_EQ(guest.ask("alloc 1073741824"), "error 2");
  EXPECT_EQ(guest.ask("observed").substr(0, 2), "2 ");
}

TEST_F(OwnProcess, AttachesSixtyFourObserversAtATime) {
  ApiGuest guest{world_.under_shim({})};
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(guest.ask("observe"), "0") << i;
    ASSERT_EQ(guest.ask("ignore"), "0") << i;
  }
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(guest.ask("observe"), "0") << i;
  }

  EXPECT_EQ(guest.ask("observe"), code(TIDEMARK_ERROR_BUSY));
  EXPECT_THAT(guest.ask("detail"), testing::StartsWith("all 64 places for observers are taken"));
}

TEST_F(OwnProcess, HasTheIdAndLabelThatTheViewerShows) {
  Launch launch = world_.under_shim({});
  launch.environment["TIDEMARK_LABEL"] = "mine";
  launch.environment["TIDEMARK_LOG"] = "off";
  ApiGuest guest{launch};
  EXPECT_EQ(guest.ask("identity"), " []") << "no segment yet";
  guest.alloc(1000);

  const std::string id = world_.process(guest.pid())["id"];
  EXPECT_EQ(guest.ask("identity"), id + " [mine]");
  EXPECT_EQ(guest.ask("fork").substr(0, 6), "child ");
  EXPECT_EQ(guest.ask("identity"), " []");
  guest.alloc(1000);
  EXPECT_THAT(guest.ask("identity"), testing::MatchesRegex("[0-9a-f]+ \\[mine\\]"));
  EXPECT_NE(guest.ask("identity"), id + " [mine]");
}

// A caller's word of a thousand bytes left no room for what was wrong with it.
TEST_F(OwnProcess, ShowsNoMoreThanTheBeginningOfAnArgument) {
  ApiGuest guest{world_.under_shim({})};
  guest.alloc(1000);
  const std::string word(1000, 'x');
  const std::string shown = "'" + word.substr(0, 200) + "...'";

  for (const std::string& command : {"numbers " + word, "stat - " + word, "record " + word + " all 0",
                                     "record all " + word + " 0", "export " + word, "init " + word}) {
    EXPECT_THAT(guest.ask(command), testing::StartsWith(code(TIDEMARK_ERROR_INVALID_ARGUMENT))) << command;
    EXPECT_THAT(guest.ask("detail"), testing::AllOf(testing::HasSubstr(shown), testing::HasSubstr("; allowed: ")))
        << command;
  }
  EXPECT_EQ(guest.ask("subject " + word), code(TIDEMARK_ERROR_NO_SUCH_PROCESS));
  EXPECT_THAT(guest.ask("detail"), testing::StartsWith("no process " + shown + " (a pid"));
}

TEST_F(OwnProcess, BeginsAnewInAForkedChild) {
  Launch launch = world_.under_shim({});
  launch.environment["TIDEMARK_LOG"] = "off";
  ApiGuest guest{launch};
  guest.alloc(4 * kMiB);
  EXPECT_EQ(guest.ask("observe"), "0");
  EXPECT_EQ(guest.ask("push parents"), "0");

  EXPECT_EQ(guest.ask("fork").substr(0, 6), "child ");

  EXPECT_EQ(guest.ask("loaded"), "1 0 0 mtia");
  EXPECT_EQ(guest.ask("numbers -"), "0 0 0 0");
  EXPECT_EQ(guest.alloc(6 * kMiB), "1");
  EXPECT_EQ(guest.ask("numbers -").substr(0, 15), "6291456 6291456");
  EXPECT_EQ(guest.ask("push own"), "0");
  EXPECT_EQ(guest.ask("pop").substr(0, 9), "0 6291456");
  EXPECT_EQ(guest.ask("pop"), code(TIDEMARK_ERROR_NOT_INITIALIZED) + " 0 0 0 0") << "its parent's";
  EXPECT_EQ(guest.ask("alloc 107374182400"), "error 2");
  EXPECT_EQ(guest.ask("observed").substr(0, 2), "1 ") << "observers outlive a fork";
}

TEST_F(OwnProcess, RecordsFromItsFirstAllocationAndExports) {
  ApiGuest guest{world_.under_shim({})};
  EXPECT_EQ(guest.ask("record all none 100"), "0");
  guest.ask("free " + guest.alloc(4 * kMiB));
  guest.alloc(1000);
  EXPECT_EQ(world_.process(guest.pid())["recording"]["max_entries"], 100);

  const std::string json = world_.directory() + "/memory.json";
  EXPECT_EQ(guest.ask("export " + json), "0") << guest.ask("detail");
  EXPECT_EQ(guest.ask("export " + json), "0") << "over what is there";
  EXPECT_EQ(guest.ask("export " + world_.directory() + "/memory.pickle"), "0");
  EXPECT_EQ(guest.ask("export " + world_.directory() + "/memory.tmsnap"), "0");
  EXPECT_EQ(guest.ask("export " + world_.directory() + "/memory.csv"), "0");
  EXPECT_TRUE(std::filesystem::remove(world_.directory() + "/memory.csv"));
  EXPECT_EQ(guest.ask("record - - 0"), "0");
  EXPECT_TRUE(world_.process(guest.pid())["recording"].is_null());

  const Outcome report = world_.tidemark({"report", json});
  EXPECT_EQ(report.exit_code, 0) << describe(report);
  const nlohmann::json document = read_json(json);
  EXPECT_EQ(document["device_traces"][0].size(), 7U)
      << "two allocations, a free of two steps, two segments, the first export";
  for (const auto& entry : std::filesystem::directory_iterator(world_.directory())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name.starts_with("tidemark.") || name == "memory.json" || name == "memory.pickle" ||
                name == "memory.tmsnap")
        << name << " was left behind";
  }
}

TEST_F(OwnProcess, SaysWhyItCannotExport) {
  Launch launch = world_.under_shim({});
  launch.environment["PATH"] = "/nowhere";
  ApiGuest guest{launch};
  guest.alloc(1000);

  EXPECT_EQ(guest.ask("export /nowhere/memory.pickle"), code(TIDEMARK_ERROR_SYSTEM));
  EXPECT_NE(guest.ask("detail").find("No such file or directory"), std::string::npos);
}

// Where the library is there and does nothing, it is as if it weren't.
TEST_F(OwnProcess, IsNotServedWhereTheLibraryIsOff) {
  Launch launch = world_.under_shim({});
  launch.environment["TIDEMARK_MODE"] = "off";
  ApiGuest guest{launch};
  guest.alloc(1000);

  EXPECT_EQ(guest.ask("loaded"), "0 0 0 mtia");
  EXPECT_EQ(guest.ask("numbers -"), "0 0 0 0");
  EXPECT_EQ(guest.ask("stats mtia:0"), code(TIDEMARK_ERROR_NOT_INITIALIZED) + " 0 0 0 0 0");
}

// Without a segment the numbers are there all the same: they are the process's own.
TEST_F(OwnProcess, HasItsNumbersWithoutASegment) {
  Launch launch = world_.under_shim({});
  launch.environment["TIDEMARK_SHM"] = "off";
  ApiGuest guest{launch};
  guest.alloc(4 * kMiB);

  EXPECT_EQ(guest.ask("numbers -").substr(0, 15), "4194304 4194304");
  EXPECT_EQ(guest.ask("record all none 0"), code(TIDEMARK_ERROR_UNSUPPORTED));
  EXPECT_EQ(guest.ask("push some"), "0");
  EXPECT_EQ(guest.ask("pop").substr(0, 9), "0 4194304");
}

}  // namespace
}  // namespace tidemark::test
