// The ranks of a distributed job, started by a launcher that has never heard of Tidemark.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

using nlohmann::json;

// The words of a table's line.
std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>{stream}, {}};
}

TEST(Ranks, OfAJobAreToldApartByTheirPeaks) {
  const ShimWorld world;
  const std::vector<std::string> mib{"12", "20", "4", "8", "16", "44", "28", "36"};
  Launch launch = world.under_shim(
      {"/usr/bin/python3", "-B", TIDEMARK_TEST_SOURCE "/guest/launch_ranks.py", test_program("guest_cuda_driver")});
  launch.command.insert(launch.command.end(), mib.begin(), mib.end());
  launch.environment["CUDA_SIM_DEVICES"] = "8";
  launch.environment["TIDEMARK_ALLOC_CONF"] = "large:whole";
  Conversation launcher{launch};
  ASSERT_EQ(launcher.read_line(), "ready") << launcher.err();

  const Outcome sorted = world.tidemark({"ps", "--sort", "peak"});

  std::istringstream lines(sorted.out);
  std::string head;
  std::string first;
  std::getline(lines, head);
  std::getline(lines, first);
  EXPECT_THAT(words(head), testing::ElementsAre("ID", "PID", "RANK", "DEVICE", "STATE", "ALLOCATED", "PEAK", "RESERVED",
                                                "CACHED", "HELD", "HIT%", "LABEL/COMMAND"));
  ASSERT_GT(words(first).size(), 8U) << sorted.out;
  EXPECT_EQ(words(first)[2], "5/8") << sorted.out;
  EXPECT_EQ(words(first)[7] + words(first)[8], "44.00MiB") << sorted.out;

  std::set<std::string> uuids;
  const json page = world.ps();
  ASSERT_EQ(page["processes"].size(), mib.size());
  for (const json& process : page["processes"]) {
    const json& rank = process["rank"];
    EXPECT_EQ(rank["local"], rank["global"]);
    EXPECT_EQ(rank["world"], 8);
    uuids.insert(process["devices"][0]["uuid"].get<std::string>());
    EXPECT_EQ(usage_of(process["devices"][0]).peak, std::stoull(mib.at(rank["global"])) * kMiB);
  }
  EXPECT_EQ(uuids.size(), mib.size()) << "a device each";
  EXPECT_EQ(page["devices"].size(), mib.size());
  EXPECT_EQ(launcher.finish(), Outcome{.exit_code = 0});
}

TEST(Ranks, AreReadFromWhatLaunchersSet) {
  struct Case {
    std::map<std::string, std::string> environment;
    json rank;
  };
  const std::vector<Case> cases{
      {{{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "4"}}, {{"global", 3}, {"local", 1}, {"world", 4}}},
      {{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "9"}},
       {{"global", 2}, {"local", 0}, {"world", 9}}},
      {{{"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS", "6"}},
       {{"global", 5}, {"local", 1}, {"world", 6}}},
      {{{"RANK", "7"}}, {{"global", 7}, {"local", nullptr}, {"world", nullptr}}},
      {{{"RANK", "first"}}, nullptr},
      {{}, nullptr}};
  for (const Case& one : cases) {
    const ShimWorld world;
    Launch launch = world.under_shim({test_program("guest_mtia")});
    launch.environment.insert(one.environment.begin(), one.environment.end());
    Guest guest{launch};
    guest.alloc(1000);

    EXPECT_EQ(world.process(guest.pid())["rank"], one.rank) << json(one.environment);
  }
}

}  // namespace
}  // namespace tidemark::test
