// However a program reaches its driver: the same memory is counted alike, and once.
#include <gtest/gtest.h>
#include <unistd.h>

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

const std::string kDlsymWrapper = std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/dlsym_wrapper.so";

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

  [[nodiscard]] static Usage expected() { return GetParam().layer == "runtime" ? kHeldAfterTheFirst : kHeld; }

  // With another library preloaded: what is counted while the two blocks are held; all 0 where nobody is seen. The
  // program must not notice anything.
  [[nodiscard]] Usage usage_beside(const std::string& library, bool is_first) const {
    Launch beside = launch();
    beside.preload.insert(is_first ? beside.preload.begin() : beside.preload.end(), library);
    Guest guest{beside};
    guest.alloc(1000);
    guest.alloc(3 * kMiB);
    const nlohmann::json device = world_.device(guest.pid(), GetParam().device);
    guest.free(0);
    guest.free(1);
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
    return device.is_null() ? Usage{} : usage_of(device);
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
  EXPECT_EQ(usage_of(device), expected());
  EXPECT_EQ(stat_of(device, "allocation.all.allocated"), 2u);
  if (!GetParam().layer.empty()) {
    EXPECT_EQ(process["layer"], GetParam().layer);
  }
  guest.free(0);
  guest.free(1);
  EXPECT_EQ(usage_of(world_.device(guest.pid(), GetParam().device)).allocated, 0u);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

// What else people preload: its place before or behind us makes no difference.
TEST_P(WaysIn, AreCountedAlikeBesideAnotherAllocator) {
  const char* jemalloc = "/usr/lib/" TIDEMARK_TEST_MULTIARCH "/libjemalloc.so.2";
  if (access(jemalloc, R_OK) != 0) GTEST_SKIP() << "jemalloc is not installed (libjemalloc2)";
  for (const bool is_first : {true, false}) {
    EXPECT_EQ(usage_beside(jemalloc, is_first), expected()) << is_first;
  }
}

TEST_P(WaysIn, AreCountedAlikeInFrontOfAnotherDlsym) { EXPECT_EQ(usage_beside(kDlsymWrapper, false), expected()); }

// Another dlsym in front of us answers the program from behind our back. Who asks a handle for the driver is then not
// seen, who is linked to it is; the program gets what it would have got without us.
TEST_P(WaysIn, AreCountedAsFarAsTheyAreSeenBehindAnotherDlsym) {
  const Usage seen = usage_beside(kDlsymWrapper, true);

  const bool is_by_handle = GetParam().name == "CudaDriverByHandle" || GetParam().name == "CudaRuntimeStatic" ||
                            GetParam().name.find("Ctypes") != std::string::npos;
  if (is_by_handle) {
    EXPECT_EQ(seen, Usage{});
  } else if (GetParam().name.rfind("CudaRuntime", 0) == 0) {
    EXPECT_EQ(seen, kHeldAfterTheFirst) << "a runtime whose driver calls can't be seen is one without a driver";
  } else {
    EXPECT_EQ(seen, kHeld);
  }
}

#ifdef TIDEMARK_TEST_CUDA
// Programs that do their work at once and end: what they had is in what they leave.
struct Ended {
  std::string program;
  std::uint64_t allocations;
  std::string layer;
};
void PrintTo(const Ended& ended, std::ostream* to) { *to << ended.program; }

class WaysInAtTheEnd : public testing::TestWithParam<Ended> {};
INSTANTIATE_TEST_SUITE_P(Of, WaysInAtTheEnd,
                         testing::Values(Ended{"cuda_plugin_host", 2, "driver"},    // jumps into the runtime
                                         Ended{"cuda_two_runtimes", 2, "driver"}),  // each frees what is the other's
                         [](const auto& one) { return one.param.program; });

TEST_P(WaysInAtTheEnd, AreCountedOnce) {
  const ShimWorld world;
  const std::string program = std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/" + GetParam().program;
  Launch launch = world.under_shim({program});
  launch.environment["TIDEMARK_KEEP"] = "all";

  EXPECT_EQ(run(launch), run(ShimWorld::natively({program})));

  const nlohmann::json processes = world.ps()["processes"];
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0]["layer"], GetParam().layer);
  const nlohmann::json& device = processes[0]["devices"][0];
  EXPECT_EQ(stat_of(device, "allocation.all.allocated"), GetParam().allocations);
  EXPECT_EQ(stat_of(device, "requested_bytes.all.peak"), 1000 + 3 * kMiB);
  EXPECT_EQ(usage_of(device).requested, 0u);
}
#endif

#ifdef TIDEMARK_TEST_CUDA
// Does the same with us as without, and is seen in both layers: its devices.
nlohmann::json devices_in_both_layers(const std::vector<std::string>& command) {
  const ShimWorld world;
  Launch launch = world.under_shim(command);
  launch.environment["TIDEMARK_KEEP"] = "all";

  const Outcome native = run(ShimWorld::natively(command));
  EXPECT_EQ(run(launch), native);

  EXPECT_EQ(native.exit_code, 0) << describe(native);
  const nlohmann::json processes = world.ps()["processes"];
  EXPECT_EQ(processes.size(), 1u);
  if (processes.size() != 1) {
    return nlohmann::json::array();
  }
  EXPECT_EQ(processes[0]["layer"], "both");
  return processes[0]["devices"];
}

// One ends in a driver that can be hooked, the other has its own inside: each block is counted where it can be.
TEST(TwoRuntimes, OfDifferentKindsAreCountedInBothLayers) {
  std::uint64_t requested = 0;
  for (const nlohmann::json& device :
       devices_in_both_layers({std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/cuda_two_runtimes",
                               simulator_directory() + "/bare/libcudart.so.13"})) {
    requested += stat_of(device, "requested_bytes.all.allocated");
  }
  EXPECT_EQ(requested, 1000 + 3 * kMiB);
}
#endif

#ifdef TIDEMARK_TEST_CUDA
// Two runtimes, of which one is never seen to call a driver: it has its own inside, or it has the very one that serves
// the other, reached past every preload. What each does with the other's blocks only the driver can say.
class TwoDrivers : public testing::TestWithParam<std::vector<std::string>> {};
INSTANTIATE_TEST_SUITE_P(Are, TwoDrivers,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{simulator_directory() + "/libcudart.so", "deep"}),
                         [](const auto& one) { return one.param.empty() ? "Two" : "OneInTruth"; });

TEST_P(TwoDrivers, AnswerForEachOthersMemoryAsNatively) {
  std::vector<std::string> command = {std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/cuda_two_drivers"};
  command.insert(command.end(), GetParam().begin(), GetParam().end());

  for (const nlohmann::json& device : devices_in_both_layers(command)) {
    EXPECT_EQ(usage_of(device).requested, 0u);
    EXPECT_EQ(stat_of(device, "allocation.all.freed"), stat_of(device, "allocation.all.allocated"));
  }
}

// RTLD_DEFAULT, RTLD_NEXT and the program's own handle lead to our functions, as they come first: each in the stead of
// the one that the program is linked to, and once.
TEST(ScopesOfTheProgram, LeadToTheLinkedFunctionAndAreCountedOnce) {
  const ShimWorld world;
  const std::string program = std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/cuda_scopes";
  Launch launch = world.under_shim({program});
  launch.environment["TIDEMARK_KEEP"] = "all";

  const Outcome native = run(ShimWorld::natively({program}));
  EXPECT_EQ(run(launch), native);

  EXPECT_EQ(native.out.find("another one"), std::string::npos) << native.out;
  const nlohmann::json processes = world.ps()["processes"];
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0]["layer"], "driver");
  EXPECT_EQ(stat_of(processes[0]["devices"][0], "allocation.all.allocated"), 6u);
  EXPECT_EQ(usage_of(processes[0]["devices"][0]).requested, 0u);
}

// They are found where no library has them, since we are there (DESIGN D2), and answer what a program without a driver
// gets. Nothing is made of it: no segment, no line.
TEST(ScopesOfTheProgram, HaveOurFunctionsWhereNoDriverIs) {
  const ShimWorld world;
  const std::string ask =
      "import ctypes; all = ctypes.CDLL(None); block = ctypes.c_void_p(); "
      "print(all.cudaMalloc(ctypes.byref(block), 512), all.cudaFree(None), "
      "all.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(512)), hasattr(all, 'cudaMemset'))";

  const Outcome outcome = run(world.under_shim({"/usr/bin/python3", "-B", "-c", ask}));

  EXPECT_EQ(outcome, (Outcome{.exit_code = 0, .out = "35 35 3 False\n"}));
  EXPECT_TRUE(world.files().empty());
}
#endif

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
