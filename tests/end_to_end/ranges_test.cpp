// The NVTX ranges of unmodified programs, compiled with NVIDIA's own headers, as `tidemark ranges` shows them.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <utility>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

using nlohmann::json;

std::string program(const std::string& name) { return std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/" + name; }

class Ranges : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program("mtia_nvtx"))) {
      GTEST_SKIP() << "no nvtx3/nvToolsExt.h where this was built: no program has ranges";
    }
  }

  [[nodiscard]] Launch followed(std::vector<std::string> words) const {
    words[0] = program(words[0]);
    Launch launch = world_.under_shim(std::move(words));
    launch.environment["NVTX_INJECTION64_PATH"] = preload_library();
    launch.environment["TIDEMARK_KEEP"] = "all";
    launch.environment["TIDEMARK_LABEL"] = "ranges";
    return launch;
  }

  [[nodiscard]] json list(const std::string& target) const {
    const Outcome outcome = world_.tidemark({"ranges", target, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    return json::parse(outcome.out, nullptr, false).value("ranges", json::array());
  }
  // Of device mtia:0, by name.
  [[nodiscard]] std::map<std::string, json> by_name(const std::string& target) const {
    std::map<std::string, json> found;
    for (const json& range : list(target)) {
      EXPECT_EQ(range.at("device"), "mtia:0") << range;
      EXPECT_TRUE(found.emplace(range.at("name"), range).second) << "two rows: " << range;
    }
    return found;
  }

  const ShimWorld world_;
};

struct Expected {
  std::string name;
  std::uint64_t times;
  std::uint64_t not_measured;
  std::uint64_t peak_mib;
  std::uint64_t added_mib;
};

TEST_F(Ranges, HaveTheirPeaksByName) {
  const Outcome alone = run(ShimWorld::natively({program("mtia_nvtx")}));
  const std::vector<Expected> expected{
      {"outer", 1, 0, 28, 28},  // older than the first allocation
      {"inner", 3, 0, 28, 24},
      {"worker", 4, 0, 2, 2},
      {"across", 1, 0, 16, 16},
      {"after them", 1, 0, 2, 2},
      {"loader:batch", 2, 0, 12, 12},
      {"w\u00efde:\u8303\u56f4", 1, 0, 10, 10},
      {"wide \u03b1", 1, 0, 2, 2},
      {"attributes", 3, 0, 2, 2},
      {"aten::mm", 3, 0, 2, 2},
      {"crowd", 100, 36, 2, 2},
      {std::string(120, 'x'), 1, 0, 2, 2},
      {"deep", 64, 0, 2, 2},
  };

  const Outcome outcome = run(followed({"mtia_nvtx"}));
  const std::map<std::string, json> found = by_name("ranges");

  EXPECT_EQ(outcome, alone);
  for (const Expected& range : expected) {
    const auto shown = found.find(range.name);
    ASSERT_NE(shown, found.end()) << range.name;
    EXPECT_EQ(shown->second.at("times"), range.times) << range.name;
    EXPECT_EQ(shown->second.at("not_measured"), range.not_measured) << range.name;
    EXPECT_EQ(shown->second.at("peak_allocated_bytes"), range.peak_mib * kMiB) << range.name;
    EXPECT_EQ(shown->second.at("added_bytes"), range.added_mib * kMiB) << range.name;
    EXPECT_GE(shown->second.at("peak_reserved_bytes"), shown->second.at("peak_allocated_bytes")) << range.name;
  }
  EXPECT_FALSE(found.contains("never ends"));
}

TEST_F(Ranges, AreNotFollowedUnlessThatIsWanted) {
  Launch launch = followed({"mtia_nvtx"});
  launch.environment.erase("NVTX_INJECTION64_PATH");

  EXPECT_EQ(run(launch).exit_code, 0);

  EXPECT_EQ(list("ranges"), json::array());
}

TEST_F(Ranges, LeaveNoFileBehindThatIsNotToBeKept) {
  Launch launch = followed({"mtia_nvtx"});
  launch.environment["TIDEMARK_KEEP"] = "none";

  EXPECT_EQ(run(launch).exit_code, 0);

  EXPECT_EQ(world_.files(), std::vector<std::string>{});
}

TEST_F(Ranges, OfAParentAreNotItsChilds) {
  const Outcome outcome = run(followed({"mtia_nvtx", "fork"}));
  EXPECT_EQ(outcome.out, "0 calls failed, the child ended with 0\n") << describe(outcome);
  std::map<std::size_t, std::map<std::string, json>> tables;  // by the number of their rows
  for (const std::string& file : world_.files()) {
    if (file.ends_with(".ranges")) {
      constexpr std::size_t kNonceAndSuffix = 16 + 7;
      const auto table = by_name(file.substr(file.size() - kNonceAndSuffix, 8));
      tables[table.size()] = table;
    }
  }

  ASSERT_EQ(tables.size(), 2U);
  ASSERT_EQ(tables[1].size(), 1U) << "the child's";
  EXPECT_EQ(tables[1].at("child").at("peak_allocated_bytes"), 8 * kMiB);
  ASSERT_EQ(tables[2].size(), 2U) << "the parent's";
  EXPECT_EQ(tables[2].at("around the fork").at("peak_allocated_bytes"), 4 * kMiB);
  EXPECT_EQ(tables[2].at("started before").at("peak_allocated_bytes"), 4 * kMiB);
}

TEST_F(Ranges, AreReadableWhileTheProcessLivesAndAfterItWasKilled) {
  Conversation process{followed({"mtia_nvtx", "hold"})};
  ASSERT_EQ(process.read_line(), "ready") << process.err();

  const auto living = by_name(std::to_string(process.pid()));
  EXPECT_EQ(process.end_by(SIGKILL).signal, SIGKILL);
  const auto killed = by_name("ranges");

  ASSERT_EQ(living.size(), 1U);
  EXPECT_EQ(living.at("done").at("peak_allocated_bytes"), 4 * kMiB);
  EXPECT_EQ(killed, living);
  EXPECT_EQ(world_.tidemark({"gc"}).exit_code, 0);
  EXPECT_EQ(world_.files(), std::vector<std::string>{}) << "their table goes with the counters";
}

TEST_F(Ranges, OfALibraryThatIsUnloadedHarmNobody) {
  const Outcome alone = run(ShimWorld::natively({program("mtia_nvtx_plugin")}));

  EXPECT_EQ(run(followed({"mtia_nvtx_plugin"})), alone);

  EXPECT_EQ(by_name("ranges").at("plugin").at("times"), 2);
}

TEST_F(Ranges, AreRefusedInOneLineWhereThereIsNothingToPutThemBeside) {
  Launch launch = followed({"mtia_nvtx"});
  launch.environment["TIDEMARK_SHM"] = "memfd";

  const Outcome outcome = run(launch);

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "tidemark: no table of NVTX ranges: there is no segment with a name to put it beside (TIDEMARK_SHM)\n");
}

TEST_F(Ranges, CostNothingWhereNothingIsShown) {
  const Outcome alone = run(ShimWorld::natively({program("mtia_nvtx")}));
  for (const auto& [name, value] :
       {std::pair{"TIDEMARK_SHM", "off"}, std::pair{"TIDEMARK_MODE", "off"}, std::pair{"TIDEMARK_SKIP", "mtia_nvtx"}}) {
    Launch launch = followed({"mtia_nvtx"});
    launch.environment[name] = value;

    EXPECT_EQ(run(launch), alone) << name;
    EXPECT_EQ(world_.files(), std::vector<std::string>{}) << name;
  }
}

TEST_F(Ranges, ARunFollowsThemIfAsked) {
  const std::vector<std::string> words{"run",     "--nvtx", "--keep", "all",
                                       "--label", "asked",  "--",     program("mtia_nvtx")};
  Launch launch = world_.viewer(words);
  launch.environment["LD_LIBRARY_PATH"] = simulator_directory();
  const Outcome alone = run(ShimWorld::natively({program("mtia_nvtx")}));

  EXPECT_EQ(run(launch), alone);
  EXPECT_EQ(by_name("asked").at("inner").at("times"), 3);

  // Another tool's setting is the user's own.
  launch.environment["NVTX_INJECTION64_PATH"] = "/nowhere/tool.so";
  launch.command[6] = "kept";
  EXPECT_EQ(
      run(launch).err,
      "tidemark: NVTX_INJECTION64_PATH is /nowhere/tool.so already, which is kept: NVTX ranges go there and not to "
      "us\n");
  EXPECT_EQ(list("kept"), json::array());
}

TEST_F(Ranges, AreATableWithTheLargestAdditionFirst) {
  EXPECT_EQ(run(followed({"mtia_nvtx"})).exit_code, 0);

  const Outcome table = world_.tidemark({"ranges", "ranges"});
  const Outcome by_times = world_.tidemark({"ranges", "ranges", "--sort", "times"});
  const Outcome wrong = world_.tidemark({"ranges", "ranges", "--sort", "size"});

  EXPECT_EQ(table.out.substr(0, table.out.find('\n')),
            "TIMES  NOT MEASURED  PEAK ALLOCATED      ADDED  PEAK RESERVED  DEVICE  NAME")
      << describe(table);
  EXPECT_LT(table.out.find("outer"), table.out.find("inner"));
  EXPECT_LT(table.out.find("inner"), table.out.find("across"));
  EXPECT_LT(by_times.out.find("crowd"), by_times.out.find("deep"));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "tidemark: ranges: --sort 'size'; allowed: added, allocated, reserved, times, name\n");
}

}  // namespace
}  // namespace tidemark::test
