// What the machine says of its devices, and what becomes of it: NVML by a library of the test's own, the kernel
// driver's files, and a library that hangs.
#include "viewer/exit_code.hpp"
#include "viewer/model/target.hpp"
#include "viewer/node/kernel_driver.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/render/json.hpp"
#include "viewer/render/show_text.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kFirst = "GPU-9f3c01aa-0100-0000-0000-000000000000";  // of the sample view's cuda:0
constexpr const char* kSlice = "MIG-9f3c01aa-0100-0000-0000-000000000001";  // and cuda:1
constexpr const char* kUnused = "GPU-00000000-0000-0000-0000-0000000000ff";

class NodeTest : public testing::Test {
 protected:
  NodeTest() {
    add_node(view_,
             {.devices = {fact(kUnused, 0, 0), fact(kFirst, 1, (5_GiB).count()), fact(kSlice, 2, (1_GiB).count())}});
  }
  static NodeFact fact(const char* uuid, std::uint32_t index, std::uint64_t used) {
    return {.uuid = uuid,
            .uuid_bytes = parse_uuid(uuid),
            .name = "Node's name",
            .pci_bus_id = "0000:65:00.0",
            .index = index,
            .from_nvml = true,
            .capacity = (8_GiB).count(),
            .used = used,
            .time_ns = kSampleNow};
  }

  View view_ = sample_view();
};

TEST_F(NodeTest, IsJoinedWithTheProcessesByUuid) {
  const json devices = json::parse(ps_json(view_)).at("devices");

  ASSERT_EQ(devices.size(), 4U) << "two of the sample's GPUs, its MTIA device, and one that nobody uses";
  EXPECT_EQ(devices[0].at("node_index"), 1);
  EXPECT_EQ(devices[0].at("pci_bus_id"), "0000:65:00.0");
  EXPECT_EQ(devices[0].at("used_bytes"), (5_GiB).count());
  EXPECT_EQ(devices[0].at("used_source"), "nvml");
  EXPECT_EQ(devices[0].at("used_age_s"), 0.0);
  EXPECT_EQ(devices[0].at("not_ours_bytes"), (1_GiB).count()) << "4 GiB are held";
  EXPECT_EQ(devices[1].at("node_index"), 2) << "a slice, by its 16 bytes";
  EXPECT_EQ(devices[2].at("node_index"), nullptr);
  EXPECT_EQ(devices[2].at("used_source"), nullptr);
  EXPECT_EQ(devices[3].at("uuid"), kUnused);
  EXPECT_EQ(devices[3].at("name"), "Node's name");
  EXPECT_EQ(devices[3].at("held_bytes"), 0);
  EXPECT_EQ(devices[3].at("not_ours_bytes"), 0);
}

TEST_F(NodeTest, LeavesWhatOtherProcessesHoldOursWhenSomeAreChosen) {
  View chosen = view_;
  chosen.processes.push_back(sample_process(
      {.id = "55556666", .pid = 4800},
      {sample_device(segment::Backend::Cuda, 0, {.allocated = 1_MiB, .peak = 1_MiB, .reserved = 512_MiB})}));

  keep_only(chosen, {"4711"});

  const std::vector<NodeDevice> devices = node_devices(chosen);
  ASSERT_EQ(devices.size(), 2U) << "those of the chosen process";
  EXPECT_EQ(devices[0].held, (4_GiB).count());
  EXPECT_EQ(devices[0].not_ours(), (512_MiB).count());
}

TEST_F(NodeTest, EndsTheSumOfShow) {
  view_.processes.push_back(sample_process(
      {.id = "55556666", .pid = 4800},
      {sample_device(segment::Backend::Cuda, 0, {.allocated = 1_MiB, .peak = 1_MiB, .reserved = 512_MiB})}));

  EXPECT_THAT(show_text(view_.processes[4], kSampleNow, Charset::Utf8, node_devices(view_)), EndsWith(R"(
  = held                                          536,870,912  512.0 MiB
  + held by other processes seen here           4,294,967,296  4.000 GiB
  + not ours                                      536,870,912  512.0 MiB
  = used, as NVML says                          5,368,709,120  5.000 GiB
)"));
  view_.node.devices[1].used = 1;
  EXPECT_THAT(show_text(view_.processes[4], kSampleNow, Charset::Utf8, node_devices(view_)),
              EndsWith("  + not ours                              unknown: NVML says 1 B used\n"));
  EXPECT_THAT(show_text(view_.processes[3], kSampleNow, Charset::Utf8, node_devices(view_)),
              HasSubstr("the program never asked its driver"))
      << "a dead process is not of now";
}

TEST_F(NodeTest, NumbersTheDevicesOfAProcess) {
  const ProcessView& process = view_.processes[0];

  EXPECT_THAT(resolve_devices(process, "gpu:1"), ElementsAre(0U));
  EXPECT_THAT(resolve_devices(process, "gpu:2"), ElementsAre(1U));
  EXPECT_THAT(resolve_devices(process, kSlice), ElementsAre(1U));
}

TEST_F(NodeTest, SaysWhichNumbersThereAre) {
  const auto refusal = [](const ProcessView& process) {
    try {
      (void)resolve_devices(process, "gpu:0");
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ExitCode::NotFound);
      return std::string{failure.what()};
    }
    return std::string{};
  };

  EXPECT_EQ(refusal(view_.processes[0]), "process 4711 has no device 'gpu:0'; it has cuda:0 (gpu:1), cuda:1 (gpu:2)");
  EXPECT_THAT(refusal(sample_view().processes[0]), HasSubstr("'tidemark doctor' says whether NVML is there"));
}

// ---- the kernel driver

// What the driver writes for a GPU that nothing woke yet: question marks, which together would be trigraphs.
constexpr const char* kAsleep = "GPU-???????\?-???\?-???\?-???\?-????????????";

class KernelDriver : public testing::Test {
 protected:
  KernelDriver() {
    std::string pattern = "/tmp/tidemark-gpus.XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~KernelDriver() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void add(const char* bus_id, const char* uuid, const char* excluded = "No") const {
    fs::create_directory(root_ / bus_id);
    std::ofstream(root_ / bus_id / "information")
        << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 42\nGPU UUID: \t " << uuid << "\nBus Type: \t PCIe\nBus Location: \t "
        << bus_id << "\nDevice Minor: \t 0\nGPU Excluded:\t " << excluded << "\n";
  }

  fs::path root_;
};

TEST_F(KernelDriver, CountsAsNvidiaSmiDoes) {
  add("0000:ab:00.0", kFirst);
  add("0000:3b:00.0", kAsleep);
  add("0000:5e:00.0", kUnused, "Yes");

  const std::vector<NodeFact> gpus = gpus_of_kernel_driver(root_);

  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].pci_bus_id, "0000:3B:00.0");
  EXPECT_EQ(gpus[0].index, 0U);
  EXPECT_EQ(gpus[0].uuid, "");
  EXPECT_EQ(gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(gpus[1].uuid, kFirst);
  EXPECT_EQ(gpus[1].index, 1U);
  EXPECT_EQ(gpus[1].used, std::nullopt);
}

TEST_F(KernelDriver, NumbersProcessesButListsNothingThatNobodyUses) {
  add("0000:3b:00.0", kAsleep);
  add("0000:ab:00.0", kFirst);
  View view = sample_view();
  view.processes[0].devices[1].snapshot.info.pci_bus_id = "0000:3b:00.0";
  view.processes[0].devices[1].snapshot.info.simulated = false;

  add_node(view, {.devices = gpus_of_kernel_driver(root_), .no_nvml = "not there"});

  EXPECT_EQ(view.processes[0].devices[0].node_index, 1U) << "by its uuid";
  EXPECT_EQ(view.processes[0].devices[1].node_index, 0U) << "by its place, as nobody says the uuid";
  EXPECT_EQ(node_devices(view).size(), 3U);
}

TEST(KernelDriverFiles, ThatAreNotThereAreNoGpus) { EXPECT_TRUE(gpus_of_kernel_driver("/nonexistent").empty()); }

// ---- a library that takes its time

TEST(NodeWatch, OpensOnceAndLooksEachTime) {
  int opened = 0;
  int looked = 0;
  NodeWatch watch{[&] {
                    ++opened;
                    return [&] {
                      ++looked;
                      return NodeFacts{.devices = {{.uuid = kFirst}}};
                    };
                  },
                  std::chrono::hours{1}};
  for (int i = 0; i < 3; ++i) {
    watch.ask();
    EXPECT_EQ(watch.answer().devices.size(), 1U);
  }

  EXPECT_EQ(opened, 1);
  EXPECT_EQ(looked, 3);
}

TEST(NodeWatch, GivesTheLastAnswerOfALibraryThatHangs) {
  auto hung = std::make_shared<std::promise<void>>();
  {
    const auto looked = std::make_shared<std::atomic<int>>(0);  // the thread outlives this block
    NodeWatch watch{[looked, hung] {
                      return [looked, hung] {
                        if (++*looked == 2) hung->get_future().wait();
                        return NodeFacts{.devices = {{.uuid = kFirst}}};
                      };
                    },
                    std::chrono::milliseconds{500}};
    do {  // the first look may be late, too
      watch.ask();
    } while (watch.answer().devices.empty());

    for (int i = 0; i < 3; ++i) {
      watch.ask();
      const NodeFacts facts = watch.answer();
      EXPECT_EQ(facts.devices.size(), 1U);
      EXPECT_THAT(facts.no_nvml, HasSubstr("has not answered"));
    }
    EXPECT_FALSE(NodeWatch::has_left_one());
  }

  EXPECT_TRUE(NodeWatch::has_left_one());
  hung->set_value();
}

TEST(NodeWatch, SurvivesWhatTheLibraryThrows) {
  NodeWatch watch{[]() -> NodeWatch::Look { throw std::runtime_error("no such thing"); }, std::chrono::hours{1}};

  watch.ask();

  EXPECT_EQ(watch.answer().no_nvml, "no such thing");
}

}  // namespace
}  // namespace tidemark::viewer
