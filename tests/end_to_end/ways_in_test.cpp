// However a program reaches its driver: the same memory is counted alike, and once.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

// Two blocks, 1000 B and 3 MiB, and what D4 makes of them.
constexpr Usage kHeld{1000 + 3 * kMiB, 1024 + 4 * kMiB, 1024 + 4 * kMiB, 6 * kMiB};
// In the runtime layer the first block has shown that no driver is behind it: it was passed through.
constexpr Usage kHeldAfterTheFirst{1000 + 3 * kMiB, 1000 + 4 * kMiB, 1000 + 4 * kMiB, 1000 + 4 * kMiB};

struct WayIn {
  std::string name;
  std::vector<std::string> command;
  std::string device;
  std::string layer{};
  std::map<std::string, std::string> environment{};
};
void PrintTo(const WayIn& way, std::ostream* to) { *to << way.name; }

std::vector<std::string> python(const std::string& script, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"/usr/bin/python3", "-B", std::string(TIDEMARK_TEST_SOURCE) + "/" + script});
  return arguments;
}

std::vector<WayIn> ways() {
  std::vector<WayIn> all = {{"MtiaLinked", {test_program("guest_mtia")}, "mtia:0"},
                            {"MtiaCtypes", python("guest/ctypes_guest.py", {"mtia"}), "mtia:0"}};
#ifdef TIDEMARK_TEST_CUDA
  all.push_back({"CudaRuntimeLinked", {test_program("guest_cuda_runtime")}, "cuda:0", "driver"});
  all.push_back({"CudaDriverLinked", {test_program("guest_cuda_driver")}, "cuda:0", "driver"});
  all.push_back({"CudaDriverByHandle", {test_program("guest_cuda_by_handle")}, "cuda:0", "driver"});
  all.push_back({"CudaRuntimeStatic", {test_program("guest_cuda_static")}, "cuda:0", "driver"});
  // A runtime that has its driver inside: nothing of it can be hooked but the runtime's own functions.
  all.push_back({"CudaRuntimeBare",
                 {test_program("guest_cuda_runtime")},
                 "cuda:0",
                 "runtime",
                 {{"LD_LIBRARY_PATH", simulator_directory() + "/bare"}}});
  all.push_back({"CudaCtypes", python("guest/ctypes_guest.py", {"cuda"}), "cuda:0", "driver"});
  all.push_back({"CudaDriverCtypes", python("guest/ctypes_guest.py", {"cuda-driver"}), "cuda:0", "driver"});
#endif
  return all;
}

class WaysIn : public testing::TestWithParam<WayIn> {
 protected:
  [[nodiscard]] Launch launch() const {
    Launch launch = world_.under_shim(GetParam().command);
    launch.environment["TIDEMARK_ALLOC_CONF"] = "large:whole";
    for (const auto& [name, value] : GetParam().environment) launch.environment[name] = value;
    return launch;
  }

  const ShimWorld world_;
};
INSTANTIATE_TEST_SUITE_P(By, WaysIn, testing::ValuesIn(ways()), [](const auto& one) { return one.param.name; });

TEST_P(WaysIn, AreCountedAlikeAndOnce) {
  Guest guest{launch()};

  guest.alloc(1000);
  guest.alloc(3 * kMiB);

  const nlohmann::json process = world_.process(guest.pid());
  ASSERT_FALSE(process.is_null()) << guest.err();
  const nlohmann::json device = world_.device(guest.pid(), GetParam().device);
  EXPECT_EQ(usage_of(device), GetParam().layer == "runtime" ? kHeldAfterTheFirst : kHeld);
  EXPECT_EQ(stat_of(device, "allocation.all.allocated"), 2u);
  if (!GetParam().layer.empty()) {
    EXPECT_EQ(process["layer"], GetParam().layer);
  }
  guest.free(0);
  guest.free(1);
  EXPECT_EQ(usage_of(world_.device(guest.pid(), GetParam().device)).allocated, 0u);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

// As plug-in hosts do: loaded to see whether it is there, unloaded, and loaded again, elsewhere.
TEST(ADriverLoadedAnew, IsServed) {
  const ShimWorld world;
  const std::string program = std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/mtia_reloaded";
  Launch launch = world.under_shim({program});
  launch.environment["TIDEMARK_KEEP"] = "all";

  EXPECT_EQ(run(launch), run(ShimWorld::natively({program})));

  const nlohmann::json processes = world.ps()["processes"];
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(stat_of(processes[0]["devices"][0], "allocation.all.allocated"), 2u);
}

}  // namespace
}  // namespace tidemark::test
