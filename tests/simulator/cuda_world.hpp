// A context of its own on device 0 for each test of the simulated CUDA driver. The clock stands still but for waits
// (CUDA_SIM_CLOCK=manual in the test's environment).
#pragma once

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

// gtest would print an enum as a number.
inline void PrintTo(CUresult code, std::ostream* to) {
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  *to << (name != nullptr ? name : "?");
}

namespace cuda_test {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kCapacity = std::size_t{8} << 30;

inline CUcontext create_context(CUdevice device) {
  CUcontext made = nullptr;
#if CUDA_VERSION >= 13000
  EXPECT_EQ(cuCtxCreate(&made, nullptr, 0, device), CUDA_SUCCESS);
#else
  EXPECT_EQ(cuCtxCreate(&made, 0, device), CUDA_SUCCESS);
#endif
  return made;
}

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    context = create_context(0);
  }
  void TearDown() override {
    while (cuCtxPopCurrent(nullptr) == CUDA_SUCCESS) {
    }
    cuCtxDestroy(context);
  }

  static CUdeviceptr take(std::size_t size) {
    CUdeviceptr block = 0;
    EXPECT_EQ(cuMemAlloc(&block, size), CUDA_SUCCESS);
    return block;
  }
  static CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }
  static CUevent event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent made = nullptr;
    EXPECT_EQ(cuEventCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }
  static std::size_t free_bytes() {
    std::size_t free = 0;
    EXPECT_EQ(cuMemGetInfo(&free, nullptr), CUDA_SUCCESS);
    return free;
  }
  static unsigned char byte_of(CUdeviceptr block) {
    unsigned char byte = 0;
    EXPECT_EQ(cuMemcpyDtoH(&byte, block, 1), CUDA_SUCCESS);
    return byte;
  }

  CUcontext context = nullptr;
};

}  // namespace cuda_test
