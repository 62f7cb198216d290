// The simulated management library beside the simulated CUDA driver: both speak of the same devices.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "simulator/nvml/library.hpp"

using nvml_sim::Device;
using nvml_sim::Memory;
using nvml_sim::MemoryV2;
using nvml_sim::PciInfo;

extern "C" {
int nvmlInit_v2();
int nvmlInitWithFlags(unsigned flags);
int nvmlShutdown();
const char* nvmlErrorString(int code);
int nvmlSystemGetDriverVersion(char* version, unsigned length);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device);
int nvmlDeviceGetIndex(Device device, unsigned* index);
int nvmlDeviceGetUUID(Device device, char* uuid, unsigned length);
int nvmlDeviceGetName(Device device, char* name, unsigned length);
int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info);
int nvmlDeviceGetMemoryInfo(Device device, Memory* memory);
int nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory);
int nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending);
}

namespace {

constexpr unsigned long long kMiB = 1 << 20;

// The test's environment: 2 devices of 64 MiB, shared (see CMakeLists.txt).
class Nvml : public testing::Test {
 protected:
  Nvml() { EXPECT_EQ(nvmlInit_v2(), nvml_sim::kSuccess); }
  ~Nvml() override { EXPECT_EQ(nvmlShutdown(), nvml_sim::kSuccess); }
  static Device device(unsigned index) {
    Device found = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(index, &found), nvml_sim::kSuccess);
    return found;
  }
};

TEST_F(Nvml, KnowsTheDriversDevices) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  unsigned count = 0;
  ASSERT_EQ(nvmlDeviceGetCount_v2(&count), nvml_sim::kSuccess);
  ASSERT_EQ(count, 2U);
  for (unsigned i = 0; i < count; ++i) {
    char name[96] = "";
    char theirs[96] = "";
    EXPECT_EQ(nvmlDeviceGetName(device(i), name, sizeof name), nvml_sim::kSuccess);
    EXPECT_EQ(cuDeviceGetName(theirs, sizeof theirs, static_cast<CUdevice>(i)), CUDA_SUCCESS);
    EXPECT_STREQ(name, theirs);
    char place[20] = "";
    PciInfo info{};
    EXPECT_EQ(nvmlDeviceGetPciInfo_v3(device(i), &info), nvml_sim::kSuccess);
    EXPECT_EQ(cuDeviceGetPCIBusId(place, sizeof place, static_cast<CUdevice>(i)), CUDA_SUCCESS);
    EXPECT_STREQ(info.bus_id_legacy, place);
    EXPECT_EQ(std::string{"0000"} + place, info.bus_id);
    CUuuid uuid{};
    char text[96] = "";
    EXPECT_EQ(cuDeviceGetUuid_v2(&uuid, static_cast<CUdevice>(i)), CUDA_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetUUID(device(i), text, sizeof text), nvml_sim::kSuccess);
    EXPECT_EQ(std::string{text}.size(), 40U) << text;
    EXPECT_EQ(std::strtol(text + 38, nullptr, 16), uuid.bytes[15]);
    unsigned index = 9;
    EXPECT_EQ(nvmlDeviceGetIndex(device(i), &index), nvml_sim::kSuccess);
    EXPECT_EQ(index, i);
  }
}

TEST_F(Nvml, TellsWhatAllProcessesUse) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  CUdeviceptr block = 0;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&block, 3 * kMiB), CUDA_SUCCESS);

  Memory plain{};
  MemoryV2 all{};
  all.version = nvml_sim::kMemoryV2;

  EXPECT_EQ(nvmlDeviceGetMemoryInfo(device(1), &plain), nvml_sim::kSuccess);
  EXPECT_EQ(plain.total, 64 * kMiB);
  EXPECT_EQ(plain.used, 3 * kMiB);
  EXPECT_EQ(plain.free, 61 * kMiB);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device(1), &all), nvml_sim::kSuccess);
  EXPECT_EQ(all.used, 3 * kMiB);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(device(0), &plain), nvml_sim::kSuccess);
  EXPECT_EQ(plain.used, 0U);
  all.version = 1;
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device(1), &all), nvml_sim::kVersionMismatch);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(Nvml, RefusesWhatMakesNoSense) {
  Device device = nullptr;
  nvmlDevice_st stranger;
  char text[96] = "";
  unsigned number = 0;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(2, &device), nvml_sim::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(0, nullptr), nvml_sim::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetName(&stranger, text, sizeof text), nvml_sim::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetUUID(Nvml::device(0), text, 10), nvml_sim::kInsufficientSize);
  EXPECT_EQ(nvmlDeviceGetMigMode(Nvml::device(0), &number, &number), nvml_sim::kNotSupported);
  EXPECT_STREQ(nvmlErrorString(nvml_sim::kNotSupported), "Not Supported");
  EXPECT_EQ(nvmlSystemGetDriverVersion(text, sizeof text), nvml_sim::kSuccess);
}

TEST(NvmlLife, BeginsAndEndsAsOftenAsItIsAsked) {
  unsigned count = 0;
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), nvml_sim::kUninitialized);
  EXPECT_EQ(nvmlShutdown(), nvml_sim::kUninitialized);
  EXPECT_EQ(nvmlInit_v2(), nvml_sim::kSuccess);
  EXPECT_EQ(nvmlInitWithFlags(0), nvml_sim::kSuccess);
  EXPECT_EQ(nvmlShutdown(), nvml_sim::kSuccess);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), nvml_sim::kSuccess) << "the first is still there";
  EXPECT_EQ(nvmlShutdown(), nvml_sim::kSuccess);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), nvml_sim::kUninitialized);
}

TEST(NvmlLife, HasFaultsOnDemand) {
  ASSERT_EQ(setenv("CUDA_SIM_NVML_FAIL", "nvmlInit_v2,nvmlDeviceGetCount_v2:2=15", 1), 0);
  unsigned count = 0;
  EXPECT_EQ(nvmlInit_v2(), nvml_sim::kUnknown);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), nvml_sim::kUninitialized);
  EXPECT_EQ(nvmlInitWithFlags(0), nvml_sim::kSuccess);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), nvml_sim::kSuccess);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), 15);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), nvml_sim::kSuccess);
  EXPECT_EQ(nvmlShutdown(), nvml_sim::kSuccess);
  EXPECT_EQ(unsetenv("CUDA_SIM_NVML_FAIL"), 0);
}

}  // namespace
