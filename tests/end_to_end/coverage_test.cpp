// What of a program is seen, and by which way it came; what was allocated and is accounted for by nobody.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class CoverageTest : public testing::Test {
 protected:
  [[nodiscard]] nlohmann::json shown(pid_t pid) const {
    const Outcome outcome = world_.tidemark({"show", std::to_string(pid), "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }
  static nlohmann::json function(const nlohmann::json& process, const std::string& name) {
    for (const nlohmann::json& function : process["coverage"]["functions"]) {
      if (function["name"] == name) return function;
    }
    ADD_FAILURE() << "no " << name;
    return nullptr;
  }

  static std::string unchanged(const std::string& name) {
    return std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/" + name;
  }

  const ShimWorld world_;
};

// Before the first heartbeat, too: the segment is born with what led to it.
TEST_F(CoverageTest, TellsALinkedFunctionFromOneThatTheResolverGave) {
  Launch launch = world_.under_shim({unchanged("cuda_hold")});
  Conversation program{launch};
  for (std::string line = "?"; line != "holding" && !line.empty(); line = program.read_line()) {
  }

  const nlohmann::json process = shown(program.pid());

  EXPECT_EQ(function(process, "cudaMalloc"),
            nlohmann::json({{"name", "cudaMalloc"}, {"dlsym", nullptr}, {"resolved", false}, {"called", true}}));
  EXPECT_EQ(function(process, "cuMemAlloc_v2"),
            nlohmann::json({{"name", "cuMemAlloc_v2"}, {"dlsym", nullptr}, {"resolved", true}, {"called", true}}));
  EXPECT_EQ(function(process, "cuMulticastCreate")["called"], false);
  EXPECT_EQ(process["coverage"]["unaccounted"], nlohmann::json::array());
}

TEST_F(CoverageTest, ShowsWhatDlsymAnsweredWithOurs) {
  Guest guest{world_.under_shim({test_program("guest_cuda_by_handle")})};
  guest.ask("alloc 1000");

  const nlohmann::json process = shown(guest.pid());

  EXPECT_EQ(function(process, "cuGetProcAddress_v2")["dlsym"], "ours");
  EXPECT_EQ(function(process, "cuMemAlloc_v2")["resolved"], true);
  EXPECT_EQ(guest.finish().exit_code, 0);
}

TEST_F(CoverageTest, CountsWhatNobodyAccountsForByName) {
  Launch launch = world_.under_shim({unchanged("cuda_unaccounted")});
  launch.preload.push_back(test_program("lenient_cuda.so"));
  Conversation program{launch};
  for (std::string line = program.read_line(); line != "held"; line = program.read_line()) {
    ASSERT_TRUE(line.ends_with(": CUDA_SUCCESS")) << line;
  }

  std::map<std::string, int> calls;
  const nlohmann::json process = shown(program.pid());
  for (const nlohmann::json& entry : process["coverage"]["unaccounted"]) calls[entry["name"]] = entry["calls"];

  calls.erase("cuMemAllocAsync");  // came after the segment was made: shown with the next heartbeat
  EXPECT_EQ(calls, (std::map<std::string, int>{{"cuGraphAddMemAllocNode", 2},
                                               {"cuGraphAddMemFreeNode", 1},
                                               {"cuGraphAddNode", 1},
                                               {"cuGraphAddNode_v2", 1},
                                               {"cuMemMapArrayAsync", 1},
                                               {"cuMemMapArrayAsync_ptsz", 1},
                                               {"cuMulticastCreate", 1}}));
  EXPECT_EQ(process["coverage"]["export_tables"], 1);
  EXPECT_EQ(program.finish().exit_code, 0);
}

TEST_F(CoverageTest, OfAnEndedProcessIsComplete) {
  Launch launch = world_.under_shim({unchanged("cuda_unaccounted")});
  launch.preload.push_back(test_program("lenient_cuda.so"));
  launch.environment["TIDEMARK_KEEP"] = "all";
  ASSERT_EQ(run(launch).exit_code, 0);
  const nlohmann::json process = shown(world_.ps()["processes"][0]["pid"]);

  const nlohmann::json& unaccounted = process["coverage"]["unaccounted"];

  EXPECT_NE(
      std::find(unaccounted.begin(), unaccounted.end(), nlohmann::json({{"name", "cuMemAllocAsync"}, {"calls", 1}})),
      unaccounted.end())
      << unaccounted;
}

// What the driver refuses took no memory.
TEST_F(CoverageTest, DoesNotCountWhatFailed) {
  Launch launch = world_.under_shim({unchanged("cuda_unaccounted")});
  launch.environment["TIDEMARK_KEEP"] = "all";
  ASSERT_EQ(run(launch).exit_code, 0);

  const nlohmann::json process = shown(world_.ps()["processes"][0]["pid"]);

  for (const nlohmann::json& entry : process["coverage"]["unaccounted"]) EXPECT_EQ(entry["name"], "cuMemAllocAsync");
  EXPECT_EQ(function(process, "cuMulticastCreate")["called"], true);
  EXPECT_EQ(process["coverage"]["export_tables"], 0);
}

TEST_F(CoverageTest, HasTheSettingsInEffect) {
  Launch launch = world_.under_shim({unchanged("cuda_hold")});
  launch.environment["TIDEMARK_FREE"] = "fast";
  launch.environment["TIDEMARK_LABEL"] = "eval";
  launch.environment["TIDEMARK_KEEP"] = "nonsense";
  Conversation program{launch};
  for (std::string line = "?"; line != "holding" && !line.empty(); line = program.read_line()) {
  }

  const nlohmann::json settings = shown(program.pid())["settings"];

  EXPECT_EQ(settings["mode"], "cache");
  EXPECT_EQ(settings["free"], "fast");
  EXPECT_EQ(settings["label"], "eval");
  EXPECT_EQ(settings["keep"], "auto") << "in effect, not as it was written";
  EXPECT_EQ(settings["limit"], nullptr);
  EXPECT_EQ(settings["dir"], world_.directory());
}

}  // namespace
}  // namespace tidemark::test
