// One program that uses tidemark.h looks at another that runs under the library, and acts on it.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "client/include/tidemark/tidemark.h"
#include "tests/client/api_guest.hpp"

namespace tidemark::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class TwoProcesses : public testing::Test {
 protected:
  TwoProcesses() : seen_(shimmed()), looker_(looking()) {
    seen_.alloc(4 * kMiB);
    seen_.ask("free " + seen_.alloc(8 * kMiB));
    EXPECT_EQ(looker_.ask("subject watched"), "0") << looker_.ask("detail");
  }

  Launch shimmed() const {
    Launch launch = world_.under_shim({});
    launch.environment["TIDEMARK_LABEL"] = "watched";
    return launch;
  }
  Launch looking() const {
    Launch launch = ShimWorld::natively({});
    launch.environment["TIDEMARK_DIR"] = world_.directory();
    return launch;
  }

  const ShimWorld world_;
  ApiGuest seen_;
  ApiGuest looker_;
};

TEST_F(TwoProcesses, SeeTheSameNumbers) {
  EXPECT_EQ(looker_.ask("state"), "live " + std::to_string(seen_.pid()));
  EXPECT_EQ(looker_.ask("identity"), world_.process(seen_.pid())["id"].get<std::string>() + " [watched]");
  EXPECT_EQ(looker_.ask("devices"), "mtia:0");
  EXPECT_EQ(looker_.ask("numbers -"), "4194304 12582912 20971520 20971520");

  const nlohmann::json device = world_.device(seen_.pid(), "mtia:0");
  for (const auto& [key, value] : device["stats"].items()) {
    const std::string wanted = std::to_string(value.get<std::int64_t>());
    EXPECT_EQ(looker_.ask("stat mtia:0 " + key), wanted) << key;
    EXPECT_EQ(seen_.ask("stat mtia:0 " + key), wanted) << key;
  }
  EXPECT_EQ(looker_.ask("info -").substr(0, 5), "-1014") << "it hasn't asked its driver";
  EXPECT_EQ(seen_.ask("info -").substr(0, 2), "0 ");
  EXPECT_EQ(looker_.ask("info -"), "0 8568963072 8589934592");
}

TEST_F(TwoProcesses, ActOnEachOther) {
  EXPECT_EQ(looker_.ask("reset -"), "0");
  EXPECT_EQ(seen_.ask("numbers -"), "4194304 4194304 20971520 20971520");
  EXPECT_EQ(looker_.ask("accumulated all"), "0");
  EXPECT_EQ(seen_.ask("stat - allocation.all.allocated"), "0");
  EXPECT_EQ(seen_.ask("free 0"), "0");
  EXPECT_EQ(looker_.ask("empty all"), "0");
  EXPECT_EQ(seen_.ask("numbers -").substr(0, 12), "0 4194304 0 ");
  EXPECT_EQ(looker_.ask("limit all 33554432"), "0");
  EXPECT_EQ(seen_.ask("limited -"), "33554432");
}

// A phase of the program and a reset from outside don't meet.
TEST_F(TwoProcesses, AResetFromOutsideLeavesAPhaseAlone) {
  EXPECT_EQ(seen_.ask("push step"), "0");
  seen_.ask("free " + seen_.alloc(64 * kMiB));

  EXPECT_EQ(looker_.ask("reset all"), "0");

  EXPECT_EQ(looker_.ask("numbers -").substr(0, 15), "4194304 4194304");
  EXPECT_EQ(seen_.ask("pop").substr(0, 10), "0 71303168");
}

TEST_F(TwoProcesses, RecordAndExport) {
  EXPECT_EQ(looker_.ask("record state none 0"), "0");
  EXPECT_EQ(world_.process(seen_.pid())["recording"]["enabled"], "state");
  for (const char* name : {"/memory.json", "/memory.pickle", "/memory.tmsnap"}) {
    EXPECT_EQ(looker_.ask("export " + world_.directory() + name), "0") << looker_.ask("detail");
  }

  EXPECT_EQ(read_json(world_.directory() + "/memory.json")["segments"][0]["allocated_size"], 4 * kMiB);
  EXPECT_EQ(world_.tidemark({"report", world_.directory() + "/memory.tmsnap"}).exit_code, 0);
  EXPECT_EQ(looker_.ask("record - - 0"), "0");
  EXPECT_TRUE(world_.process(seen_.pid())["recording"].is_null());
  for (const std::string& file : world_.files()) {
    EXPECT_EQ(file.find(".snap."), std::string::npos) << file << " was left behind";
  }
}

TEST_F(TwoProcesses, OneThatEndsIsGone) {
  EXPECT_EQ(seen_.finish().exit_code, 0);

  EXPECT_EQ(looker_.ask("state"), "exited 0");
  EXPECT_EQ(looker_.ask("numbers -"), "-1009 -1009 -1009 -1009");
  EXPECT_EQ(looker_.ask("reset all"), "-1009");
  EXPECT_EQ(looker_.ask("subject watched"), "-1004");
}

TEST_F(TwoProcesses, OneThatIsStoppedDoesNotAnswerAndIsRead) {
  seen_.signal(SIGSTOP);
  for (int i = 0; i < 10'000 && !looker_.ask("state").starts_with("stopped"); ++i) {  // the signal is on its way
  }

  EXPECT_EQ(looker_.ask("state").substr(0, 7), "stopped");
  EXPECT_EQ(looker_.ask("numbers -").substr(0, 16), "4194304 12582912");
  EXPECT_EQ(looker_.ask("reset all"), "-1010");
  for (const char* command : {"record state none 0", "record - - 0", "export memory.json"}) {
    EXPECT_EQ(looker_.ask(command), "-1010") << command;
    EXPECT_EQ(looker_.ask("detail"),
              "the process is stopped (SIGSTOP or a debugger) and answers nothing until it goes on")
        << command << " is refused at once";
  }
  seen_.signal(SIGCONT);
  std::string answer;
  for (int i = 0; i < 20 && answer != "0"; ++i) {  // it may take its time to wake up
    answer = looker_.ask("reset all");
  }
  EXPECT_EQ(answer, "0");
}

TEST_F(TwoProcesses, AMemfdSegmentIsFoundToo) {
  Launch launch = world_.under_shim({});
  launch.environment["TIDEMARK_SHM"] = "memfd";
  launch.environment["TIDEMARK_LABEL"] = "without-a-name";
  ApiGuest unnamed{launch};
  unnamed.alloc(6 * kMiB);

  EXPECT_EQ(looker_.ask("subject without-a-name"), "0") << looker_.ask("detail");
  EXPECT_EQ(looker_.ask("numbers -").substr(0, 15), "6291456 6291456");
  EXPECT_EQ(looker_.ask("reset all"), "0");
}

}  // namespace
}  // namespace tidemark::test
