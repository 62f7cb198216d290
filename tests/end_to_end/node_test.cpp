// The node's word on its devices, beside the processes' own: by the simulated NVML of the simulated CUDA devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int kNoTarget = 3;
constexpr std::uint64_t kCapacity = 64 * kMiB;

class Node : public testing::Test {
 protected:
  // Guests are killed at a test's end, so none is left to remove what they shared.
  ~Node() override { unlink(("/dev/shm/cuda_sim." + shared_).c_str()); }
  // Programs and viewers of one machine: two GPUs that all of them share.
  [[nodiscard]] Launch on_node(Launch launch, const std::string& visible = "0,1") const {
    launch.environment["LD_LIBRARY_PATH"] = simulator_directory();
    launch.environment["CUDA_SIM_DEVICES"] = "2";
    launch.environment["CUDA_SIM_MEMORY"] = "64MiB";
    launch.environment["CUDA_SIM_SHARED"] = shared_;
    launch.environment["CUDA_VISIBLE_DEVICES"] = visible;
    return launch;
  }
  [[nodiscard]] Launch guest(const std::string& visible = "0,1") const {
    Launch launch = on_node(world_.under_shim({test_program("guest_cuda_driver")}), visible);
    launch.environment["TIDEMARK_ALLOC_CONF"] = "large:whole";
    return launch;
  }
  [[nodiscard]] Outcome tidemark(std::vector<std::string> arguments, const std::string& failing = "") const {
    Launch launch = on_node(world_.viewer(std::move(arguments)));
    if (!failing.empty()) launch.environment["CUDA_SIM_NVML_FAIL"] = failing;
    return run(launch);
  }
  [[nodiscard]] json devices(const std::string& failing = "") const {
    const Outcome outcome = tidemark({"ps", "--json"}, failing);
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
    const json page = json::parse(outcome.out, nullptr, false);
    return page.is_object() ? page["devices"] : json::array();
  }

  const std::string shared_ = "tidemark-node." + std::to_string(getpid());
  const ShimWorld world_;
};

TEST_F(Node, TellsWhatIsInUseAndWhatIsNotOurs) {
  Guest ours{guest()};
  ours.alloc(4 * kMiB);
  Guest theirs{on_node(ShimWorld::natively({test_program("guest_cuda_driver")}))};
  theirs.alloc(10 * kMiB);

  const json found = devices();

  ASSERT_EQ(found.size(), 2U) << found;
  EXPECT_EQ(found[0]["node_index"], 0);
  EXPECT_EQ(found[0]["pci_bus_id"], "0000:01:00.0");
  EXPECT_EQ(found[0]["capacity_bytes"], kCapacity);
  EXPECT_EQ(found[0]["held_bytes"], 4 * kMiB);
  EXPECT_EQ(found[0]["used_bytes"], 14 * kMiB);
  EXPECT_EQ(found[0]["used_source"], "nvml");
  EXPECT_TRUE(found[0]["used_age_s"].is_number());
  EXPECT_EQ(found[0]["not_ours_bytes"], 10 * kMiB);
  EXPECT_EQ(found[1]["node_index"], 1) << "no process of ours uses it";
  EXPECT_EQ(found[1]["name"], found[0]["name"]);
  EXPECT_EQ(found[1]["simulated"], true);
  EXPECT_EQ(found[1]["capacity_bytes"], kCapacity);
  EXPECT_EQ(found[1]["held_bytes"], 0);
  EXPECT_EQ(found[1]["used_bytes"], 0);
  const Outcome shown = tidemark({"show", std::to_string(ours.pid())});
  EXPECT_THAT(shown.out, HasSubstr("  + not ours                                       10,485,760  10.00 MiB\n"
                                   "  = used, as NVML says                             14,680,064  14.00 MiB\n"));
}

TEST_F(Node, NumbersDevicesForEveryCommandThatTakesOne) {
  Guest second{guest("1")};
  second.alloc(1000);
  const std::string pid = std::to_string(second.pid());

  for (const std::vector<std::string>& command : {std::vector<std::string>{"reset-peak", pid},
                                                  {"reset-accumulated", pid},
                                                  {"empty-cache", pid, "--timeout", "0"},
                                                  {"limit", pid, "32MiB"},
                                                  {"peak", pid, "--for", "0"}}) {
    std::vector<std::string> by_index = command;
    by_index.insert(by_index.end(), {"--device", "gpu:1"});
    const Outcome done = tidemark(by_index);
    EXPECT_EQ(done.exit_code, 0) << command[0] << describe(done);
    by_index.back() = "gpu:0";
    const Outcome refused = tidemark(by_index);
    EXPECT_EQ(refused.exit_code, kNoTarget) << command[0] << describe(refused);
    EXPECT_THAT(refused.out + refused.err, HasSubstr("it has cuda:0 (gpu:1)")) << command[0];
  }
  const std::string uuid = devices()[0]["uuid"];
  EXPECT_EQ(tidemark({"reset-peak", pid, "--device", uuid.substr(0, 12)}).exit_code, 0);
}

// One call that fails costs what it would have said, and nothing else.
TEST_F(Node, SaysLessWhenNvmlFails) {
  Guest ours{guest()};
  ours.alloc(4 * kMiB);

  EXPECT_EQ(devices("nvmlDeviceGetMemoryInfo_v2")[0]["used_bytes"], 4 * kMiB) << "the older form tells it";
  EXPECT_EQ(devices("nvmlDeviceGetMemoryInfo_v2,nvmlDeviceGetMemoryInfo")[0]["used_source"], nullptr)
      << "and the program never asked";
  EXPECT_EQ(devices("nvmlDeviceGetPciInfo_v3")[0]["pci_bus_id"], "0000:01:00.0") << "by the program";
  EXPECT_EQ(devices("nvmlDeviceGetName:2")[1]["name"], nullptr);
  EXPECT_EQ(devices("nvmlDeviceGetUUID:2").size(), 1U);
  EXPECT_EQ(devices("nvmlDeviceGetHandleByIndex_v2:1=15")[0]["node_index"], nullptr);
  for (const char* call : {"nvmlInit_v2", "nvmlDeviceGetCount_v2=9"}) {
    const json found = devices(call);
    ASSERT_EQ(found.size(), 1U) << call;
    EXPECT_EQ(found[0]["node_index"], nullptr) << call;
    EXPECT_EQ(found[0]["used_source"], nullptr) << call;
    EXPECT_EQ(tidemark({"reset-peak", "--all", "--device", "gpu:0"}, call).exit_code, kNoTarget);
  }
}

TEST_F(Node, IsWhatTheProgramAskedWhereNvmlDoesNotAnswer) {
  Guest ours{guest()};
  ours.alloc(4 * kMiB);
  ours.ask("info");

  const json found = devices("nvmlInit_v2");

  EXPECT_EQ(found[0]["used_bytes"], 4 * kMiB);
  EXPECT_EQ(found[0]["used_source"], "program");
}

TEST_F(Node, IsTheAffairOfDoctor) {
  EXPECT_THAT(tidemark({"doctor"}).out, HasSubstr("ok       NVML tells the memory in use of 2 devices\n"));
  EXPECT_THAT(tidemark({"doctor"}, "nvmlInit_v2:1=9").out,
              HasSubstr("note     no NVML: nvmlInit_v2: Unknown Error (9); what a device has in use is only known"));
  Launch broken = world_.viewer({"doctor"});
  broken.environment["LD_LIBRARY_PATH"] = TIDEMARK_TEST_LIBRARIES;
  EXPECT_THAT(run(broken).out, HasSubstr("note     no NVML: libnvidia-ml.so.1 has no nvmlInit_v2; "));
}

// Without a shared capacity every process has devices of its own, and there is nothing to say of the machine's.
TEST_F(Node, KnowsNoUseOfDevicesThatAreEachProcesssOwn) {
  Guest ours{guest()};
  ours.alloc(4 * kMiB);
  Launch viewer = on_node(world_.viewer({"ps", "--json"}));
  viewer.environment.erase("CUDA_SIM_SHARED");

  const json found = json::parse(run(viewer).out)["devices"];

  EXPECT_EQ(found[0]["node_index"], 0);
  EXPECT_EQ(found[0]["used_bytes"], nullptr);
}

}  // namespace
}  // namespace tidemark::test
