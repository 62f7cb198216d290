// What made comparable tools crash or count wrongly (docs/cuda.md has the list): each done to the library here.
#include <gtest/gtest.h>

#include <string>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

std::string unchanged(const std::string& name) { return std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/" + name; }

class Hazards : public testing::Test {
 protected:
  // A program that ran to its end, as natively, and what it left.
  [[nodiscard]] nlohmann::json left_by(const std::vector<std::string>& command,
                                       const std::map<std::string, std::string>& environment = {}) const {
    Launch native = ShimWorld::natively(command);
    Launch shimmed = world_.under_shim(command);
    native.environment.insert(environment.begin(), environment.end());
    shimmed.environment.insert(environment.begin(), environment.end());
    shimmed.environment["TIDEMARK_KEEP"] = "all";
    EXPECT_EQ(run(shimmed), run(native));
    const nlohmann::json processes = world_.ps()["processes"];
    return processes.empty() ? nlohmann::json(nullptr) : processes[0];
  }
  static std::uint64_t now(const nlohmann::json& kinds, const char* name) {
    return kinds[name]["current_bytes"].get<std::uint64_t>();
  }
  // Of all kinds and of what is allocated.
  static std::uint64_t all_that_is_counted(const nlohmann::json& process) {
    std::uint64_t sum = 0;
    for (const nlohmann::json& kind : process["host_kinds"]) sum += kind["current_bytes"].get<std::uint64_t>();
    for (const nlohmann::json& device : process["devices"]) {
      sum += stat_of(device, "allocated_bytes.all.current");
      for (const nlohmann::json& kind : device["kinds"]) sum += kind["current_bytes"].get<std::uint64_t>();
    }
    return sum;
  }

  const ShimWorld world_;
};

// CUDA 13's header made cuCtxCreate mean the fourth, with a parameter more.
TEST_F(Hazards, AContextMadeByAnyOfFourFunctionsIsServed) {
  const nlohmann::json process = left_by({unchanged("cuda_every_context")});

  const nlohmann::json& device = process["devices"][0];
  EXPECT_EQ(stat_of(device, "allocation.all.allocated"), 8u);
  EXPECT_EQ(usage_of(device).requested, 0u);
  EXPECT_EQ(usage_of(device).reserved, 0u);
}

// No context to ask, or that of another device: the memory says itself where it is.
TEST_F(Hazards, MemoryIsItsOwnDevicesWhicheverIsCurrent) {
  Conversation program{world_.under_shim({unchanged("cuda_elsewhere")})};
  const auto kinds_at = [&](const std::string& word, const char* device) {
    for (std::string line = program.read_line(); line != word; line = program.read_line()) {
      EXPECT_TRUE(line.ends_with(": CUDA_SUCCESS")) << line << program.err();
      if (line.empty()) break;
    }
    return world_.device(program.pid(), device);
  };

  const nlohmann::json created = kinds_at("created", "cuda:1");
  EXPECT_EQ(now(created["kinds"], "vmm"), 4 * kMiB);
  EXPECT_TRUE(world_.device(program.pid(), "cuda:0").is_null());

  program.write_line("");
  const nlohmann::json second = kinds_at("allocated", "cuda:1");
  EXPECT_EQ(now(second["kinds"], "pool"), 500 * kKiB);
  EXPECT_EQ(second["held"]["current_bytes"], 4 * kMiB + 500 * kKiB);
  const nlohmann::json first = world_.device(program.pid(), "cuda:0");
  EXPECT_EQ(now(first["kinds"], "async"), 300 * kKiB);
  EXPECT_EQ(now(first["kinds"], "pool"), 0u);

  program.write_line("");
  EXPECT_EQ(now(kinds_at("freed", "cuda:0")["kinds"], "async"), 0u);

  program.write_line("");
  EXPECT_EQ(kinds_at("released", "cuda:1")["held"]["current_bytes"], 0);
  program.write_line("");
  EXPECT_EQ(program.finish().exit_code, 0);
}

// An ordinal is the process's own; the device is known by its uuid.
TEST_F(Hazards, AHiddenDeviceChangesNoOthersIdentity) {
  const auto uuid_of = [&](const char* visible, int device) {
    Launch launch = world_.under_shim({test_program("guest_cuda_driver")});
    if (*visible != '\0') launch.environment["CUDA_VISIBLE_DEVICES"] = visible;
    Guest guest{launch};
    EXPECT_EQ(guest.code("device " + std::to_string(device)), 0);
    guest.alloc(1000);
    return world_.device(guest.pid(), "cuda:" + std::to_string(device))["uuid"].get<std::string>();
  };
  const std::string first = uuid_of("", 0);
  const std::string second = uuid_of("", 1);

  EXPECT_NE(first, second);
  EXPECT_EQ(uuid_of("1", 0), second);
  EXPECT_EQ(uuid_of("1,0", 0), second);
  EXPECT_EQ(uuid_of("1,0", 1), first);
}

// A sanitizer's runtime looks functions up before anything else runs.
TEST_F(Hazards, ProgramsWithASanitizerInsideAreCounted) {
  for (const char* name : {"cuda_sizes_address", "cuda_sizes_thread"}) {
    const nlohmann::json process = left_by({unchanged(name)});
    ASSERT_FALSE(process.is_null()) << name;
    EXPECT_GT(stat_of(process["devices"][0], "allocation.all.allocated"), 0u) << name;
    EXPECT_EQ(usage_of(process["devices"][0]).requested, 0u) << name;
    ASSERT_EQ(world_.tidemark({"gc", "--older-than", "0s"}).exit_code, 0);
  }
}

// One call of the driver fails, and each of its functions once is that one.
class OneFailure : public Hazards, public testing::WithParamInterface<std::string> {};
std::string name_of_failure(const testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.find(':'));
}

class OfAnAllocation : public OneFailure {};
INSTANTIATE_TEST_SUITE_P(Of, OfAnAllocation,
                         testing::Values("cuMemAllocPitch:1", "cuMemAllocManaged:1", "cuMemAllocAsync:1",
                                         "cuMemAllocFromPoolAsync:1", "cuMemCreate:1", "cuMemMap:1", "cuArrayCreate:1",
                                         "cuArray3DCreate:1", "cuMipmappedArrayCreate:1", "cuMemHostAlloc:1",
                                         "cuMemAllocHost:1", "cuMemHostRegister:1", "cuMemImportFromShareableHandle:1",
                                         "cuMemRetainAllocationHandle:1"),
                         name_of_failure);

// Nothing is read from what a failed call left behind, and all else is counted and freed.
TEST_P(OfAnAllocation, IsTheProgramsToSeeAndLeavesNothingInTheBooks) {
  const nlohmann::json whole = left_by({unchanged("cuda_kinds")});
  ASSERT_EQ(world_.tidemark({"gc", "--older-than", "0s"}).exit_code, 0);

  const nlohmann::json process = left_by({unchanged("cuda_kinds")}, {{"CUDA_SIM_FAIL", GetParam()}});

  const auto made = [](const nlohmann::json& of) {
    std::uint64_t sum = stat_of(of["devices"][0], "allocation.all.allocated");
    for (const nlohmann::json& kind : of["devices"][0]["kinds"]) sum += kind["total_count"].get<std::uint64_t>();
    for (const nlohmann::json& kind : of["host_kinds"]) sum += kind["total_count"].get<std::uint64_t>();
    return sum;
  };
  EXPECT_EQ(all_that_is_counted(whole), 0u);
  EXPECT_LE(made(process), made(whole));
  EXPECT_GE(made(process) + 1, made(whole)) << "the others of its kind are counted as ever";
}

class OfAFree : public OneFailure {};
INSTANTIATE_TEST_SUITE_P(Of, OfAFree,
                         testing::Values("cuMemFree:1", "cuMemFreeAsync:1", "cuMemUnmap:1", "cuArrayDestroy:1",
                                         "cuMipmappedArrayDestroy:1", "cuMemFreeHost:1", "cuMemHostUnregister:1"),
                         name_of_failure);

// What the driver did not free is there, until its context ends.
TEST_P(OfAFree, IsTheProgramsToSeeAndStaysInTheBooks) {
  (void)left_by({unchanged("cuda_kinds")}, {{"CUDA_SIM_FAIL", GetParam()}});

  Launch launch = world_.under_shim({unchanged("cuda_kinds")});
  launch.environment["CUDA_SIM_FAIL"] = GetParam();
  Conversation program{launch};
  program.write_line("");
  for (std::string line = "?"; line != "freed" && !line.empty(); line = program.read_line()) {
  }
  EXPECT_GT(all_that_is_counted(world_.process(program.pid())), 0u);
  EXPECT_EQ(program.finish().exit_code, 0);
}

class OfAnImport : public OneFailure {};
INSTANTIATE_TEST_SUITE_P(Of, OfAnImport,
                         testing::Values("cuIpcGetMemHandle:1", "cuIpcOpenMemHandle:2", "cuIpcOpenMemHandle:3",
                                         "cuIpcCloseMemHandle:1", "cuIpcCloseMemHandle:2", "cuMemPoolImportPointer:1",
                                         "cuMemImportFromShareableHandle:1", "cuImportExternalMemory:1",
                                         "cuDestroyExternalMemory:1"),
                         [](const auto& one) {
                           std::string name = one.param;
                           name[name.find(':')] = '_';
                           return name;
                         });

TEST_P(OfAnImport, IsTheProgramsToSee) { (void)left_by({unchanged("cuda_imports")}, {{"CUDA_SIM_FAIL", GetParam()}}); }

}  // namespace
}  // namespace tidemark::test
