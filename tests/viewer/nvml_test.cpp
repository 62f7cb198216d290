// NVML by a library of the test's own: what is made of its answers, and of those that it doesn't give.
#include "viewer/node/nvml.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

using nvml::Code;
using nvml::Device;

constexpr Code kFailed{999};
constexpr Code kNotFound{6};
constexpr const char* kFirst = "GPU-9f3c01aa-0100-0000-0000-000000000000";
constexpr const char* kSlice = "MIG-9f3c01aa-0100-0000-0000-000000000001";
constexpr const char* kUnused = "GPU-00000000-0000-0000-0000-0000000000ff";

struct FakeDevice {
  const char* uuid = "";
  const char* name = "";
  const char* bus_id = "";
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;
  std::uint64_t free = 0;
  std::vector<FakeDevice> slices{};
};

// The library, all in one process: tests are one thread.
struct FakeLibrary {
  std::vector<FakeDevice> devices;
  Code init = Code::Success;
  Code count = Code::Success;
  std::map<std::string, void*, std::less<>> functions;
};
FakeLibrary* g_library = nullptr;

FakeDevice& of(Device device) { return *reinterpret_cast<FakeDevice*>(device); }
Code copy(const char* text, char* to, unsigned length) {
  std::snprintf(to, length, "%s", text);
  return *text != '\0' ? Code::Success : kFailed;
}

Code init() { return g_library->init; }
Code count(unsigned* number) {
  *number = static_cast<unsigned>(g_library->devices.size());
  return g_library->count;
}
Code by_index(unsigned index, Device* device) {
  *device = reinterpret_cast<Device>(&g_library->devices.at(index));
  return Code::Success;
}
Code uuid(Device device, char* text, unsigned length) { return copy(of(device).uuid, text, length); }
Code name(Device device, char* text, unsigned length) { return copy(of(device).name, text, length); }
Code pci(Device device, nvml::PciInfo* info) { return copy(of(device).bus_id, info->bus_id, sizeof info->bus_id); }
Code memory(Device device, nvml::Memory* memory) {
  const FakeDevice& fake = of(device);
  *memory = {.total = fake.total, .free = fake.free, .used = fake.total - fake.free};
  return Code::Success;
}
Code memory_v2(Device device, nvml::MemoryV2* memory) {
  if (memory->version != nvml::kMemoryV2) return kFailed;
  const FakeDevice& fake = of(device);
  *memory = {.version = memory->version, .total = fake.total, .reserved = fake.reserved, .free = fake.free, .used = 1};
  return Code::Success;
}
Code mig_mode(Device device, unsigned* is_on, unsigned* will_be) {
  *is_on = *will_be = of(device).slices.empty() ? 0 : 1;
  return Code::Success;
}
Code mig_count(Device, unsigned* number) {
  *number = 7;
  return Code::Success;
}
Code mig_by_index(Device device, unsigned index, Device* slice) {
  // With a hole before each, as after some were taken away.
  if (index % 2 == 0 || index / 2 >= of(device).slices.size()) return kNotFound;
  *slice = reinterpret_cast<Device>(&of(device).slices[index / 2]);
  return Code::Success;
}
const char* error_string(Code) { return "Unknown Error"; }

class NvmlTest : public testing::Test {
 protected:
  NvmlTest() {
    const auto give = [this](const char* function, auto* pointer) {
      library_.functions[function] = reinterpret_cast<void*>(pointer);
    };
    give("nvmlInit_v2", &init);
    give("nvmlDeviceGetCount_v2", &count);
    give("nvmlDeviceGetHandleByIndex_v2", &by_index);
    give("nvmlDeviceGetUUID", &uuid);
    give("nvmlDeviceGetName", &name);
    give("nvmlDeviceGetPciInfo_v3", &pci);
    give("nvmlDeviceGetMemoryInfo", &memory);
    give("nvmlDeviceGetMemoryInfo_v2", &memory_v2);
    give("nvmlDeviceGetMigMode", &mig_mode);
    give("nvmlDeviceGetMaxMigDeviceCount", &mig_count);
    give("nvmlDeviceGetMigDeviceHandleByIndex", &mig_by_index);
    give("nvmlErrorString", &error_string);
    g_library = &library_;
    library_.devices = {
        {.uuid = kUnused, .name = "Big", .bus_id = "00000000:3b:00.0", .total = 1000, .reserved = 100, .free = 700},
        {.uuid = kFirst, .name = "Small", .bus_id = "00010000:5E:00.0", .total = 500, .free = 500}};
  }
  [[nodiscard]] NodeFacts look() const {
    return Nvml{[this](const char* function) -> void* {
             const auto found = library_.functions.find(std::string_view{function});
             return found == library_.functions.end() ? nullptr : found->second;
           }}
        .look();
  }

  FakeLibrary library_;
};

TEST_F(NvmlTest, TellsEveryDevice) {
  const NodeFacts facts = look();

  EXPECT_EQ(facts.no_nvml, "");
  ASSERT_EQ(facts.devices.size(), 2U);
  const NodeFact& big = facts.devices[0];
  EXPECT_EQ(big.uuid, kUnused);
  EXPECT_EQ(big.name, "Big");
  EXPECT_EQ(big.index, 0U);
  EXPECT_EQ(big.pci_bus_id, "0000:3B:00.0") << "as CUDA writes it";
  EXPECT_EQ(big.capacity, 1000U);
  EXPECT_EQ(big.used, 200U) << "without what is reserved for the system";
  EXPECT_GT(big.time_ns, 0U);
  EXPECT_EQ(facts.devices[1].pci_bus_id, "00010000:5E:00.0") << "a domain that needs its eight digits";
  EXPECT_EQ(facts.devices[1].used, 0U);
}

TEST_F(NvmlTest, OfAnOlderKindHasTheFirstFormOfMemory) {
  library_.functions.erase("nvmlDeviceGetMemoryInfo_v2");

  EXPECT_EQ(look().devices.at(0).used, 300U);
}

TEST_F(NvmlTest, WithoutMemoryStillKnowsWhichIsWhich) {
  for (const char* function : {"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetName",
                               "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetMigMode", "nvmlErrorString"}) {
    library_.functions.erase(function);
  }

  const NodeFact fact = look().devices.at(1);

  EXPECT_EQ(fact.used, std::nullopt);
  EXPECT_EQ(fact.capacity, std::nullopt);
  EXPECT_EQ(fact.index, 1U);
  EXPECT_EQ(fact.name, "");
}

TEST_F(NvmlTest, ThatCannotBeUsedSaysWhy) {
  for (const char* function :
       {"nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID"}) {
    void* const kept = library_.functions.extract(function).mapped();
    EXPECT_EQ(look().no_nvml, std::string{"libnvidia-ml.so.1 has no "} + function);
    EXPECT_TRUE(look().devices.empty());
    library_.functions[function] = kept;
  }
  library_.count = kFailed;
  EXPECT_EQ(look().no_nvml, "nvmlDeviceGetCount_v2: Unknown Error (999)");
  library_.init = kFailed;
  EXPECT_EQ(look().no_nvml, "nvmlInit_v2: Unknown Error (999)");
}

TEST_F(NvmlTest, ShowsTheSlicesOfADeviceInsteadOfIt) {
  library_.devices[1].slices = {{.uuid = kSlice, .name = "Small 1g", .total = 70, .free = 30},
                                {.uuid = "MIG-GPU-old/1/0", .total = 70, .free = 70}};

  const NodeFacts facts = look();

  ASSERT_EQ(facts.devices.size(), 3U);
  EXPECT_EQ(facts.devices[1].uuid, kSlice);
  EXPECT_EQ(facts.devices[1].index, 1U) << "its device's";
  EXPECT_EQ(facts.devices[1].pci_bus_id, "00010000:5E:00.0");
  EXPECT_EQ(facts.devices[1].used, 40U);
  EXPECT_EQ(facts.devices[2].uuid_bytes, std::nullopt) << "a form that names no 16 bytes";
}

}  // namespace
}  // namespace tidemark::viewer
