// Managed memory of the simulated CUDA driver.
#include <array>
#include <cstdint>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;
using cuda_test::kMiB;

class CudaManaged : public cuda_test::Cuda {
 protected:
  static CUdeviceptr managed(std::size_t size, unsigned flags = CU_MEM_ATTACH_GLOBAL) {
    CUdeviceptr block = 0;
    EXPECT_EQ(cuMemAllocManaged(&block, size, flags), CUDA_SUCCESS);
    return block;
  }
  static unsigned char* bytes(CUdeviceptr block) { return reinterpret_cast<unsigned char*>(block); }
  template <class T>
  static T attribute(CUpointer_attribute which, CUdeviceptr pointer) {
    T value{};
    EXPECT_EQ(cuPointerGetAttribute(&value, which, pointer), CUDA_SUCCESS);
    return value;
  }
  static int range(CUmem_range_attribute which, CUdeviceptr pointer, std::size_t size) {
    int value = 12345;
    EXPECT_EQ(cuMemRangeGetAttribute(&value, sizeof value, which, pointer, size), CUDA_SUCCESS);
    return value;
  }
};

TEST_F(CudaManaged, IsTheHostsAndTheDevicesAtOneAddress) {
  const CUdeviceptr block = managed(3 * kMiB);
  EXPECT_EQ(bytes(block)[3 * kMiB - 1], 0) << "zeroed";
  EXPECT_EQ(free_bytes(), kCapacity) << "no page is on the device";

  bytes(block)[5] = 7;
  EXPECT_EQ(byte_of(block + 5), 7);
  EXPECT_EQ(cuMemsetD16(block, 0x0102, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(bytes(block)[5], 1);
  const CUdeviceptr device = take(4096);
  EXPECT_EQ(cuMemcpyDtoD(device, block, 16), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(device + 4), 2);

  EXPECT_EQ(cuMemFree(device), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(CudaManaged, RefusesWhatMakesNoSense) {
  CUdeviceptr block = 5;
  EXPECT_EQ(cuMemAllocManaged(nullptr, 512, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(&block, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(&block, 512, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(&block, 512, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocManaged(&block, SIZE_MAX, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(block, 5u);

  block = managed(1000, CU_MEM_ATTACH_HOST);
  EXPECT_EQ(cuMemsetD8(block, 1, 1001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(block + 999, 1, 1), CUDA_SUCCESS);
  std::array<unsigned char, 2000> host{};
  EXPECT_EQ(cuMemcpyHtoD(block + 1, host.data(), 1000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block + 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(bytes(block)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(block, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaManaged, IsFreedWhenTheWorkThatUsesItIsDone) {
  const CUstream slow = stream();
  const CUdeviceptr block = managed(kMiB);
  EXPECT_EQ(cuMemsetD8Async(block, 1, kMiB, slow), CUDA_SUCCESS);

  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamQuery(slow), CUDA_SUCCESS);
}

TEST_F(CudaManaged, EndsWithItsContext) {
  const CUcontext second = cuda_test::create_context(1);
  const CUdeviceptr block = managed(kMiB);

  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);

  EXPECT_EQ(cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_DEATH(bytes(block)[0] = 1, "");
}

TEST_F(CudaManaged, IsToldByItsPointers) {
  const CUdeviceptr block = managed(4096);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  CUipcMemHandle handle{};

  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, block + 10), 1u);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block), unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_HOST_POINTER, block + 10), block + 10);
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, block + 10), block + 10);
  EXPECT_EQ(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, block), context);
  EXPECT_EQ(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, block), 4096u);
  EXPECT_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, block), 0);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, block + 10), CUDA_SUCCESS);
  EXPECT_EQ(base, block);
  EXPECT_EQ(size, 4096u);
  EXPECT_EQ(cuIpcGetMemHandle(&handle, block), CUDA_ERROR_INVALID_VALUE);

  const auto id = attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, block);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  const CUdeviceptr again = managed(4096);
  EXPECT_NE(attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, again), id);
  EXPECT_EQ(cuMemFree(again), CUDA_SUCCESS);
}

TEST_F(CudaManaged, KeepsAdvicePageByPage) {
  const CUdeviceptr block = managed(64 << 10);
  const auto advise = [&](CUdeviceptr at, std::size_t size, CUmem_advise advice, CUmemLocationType type, int id) {
#if CUDA_VERSION >= 13000
    return cuMemAdvise(at, size, advice, CUmemLocation{type, id});
#else
    return cuMemAdvise(at, size, advice, type == CU_MEM_LOCATION_TYPE_DEVICE ? id : CU_DEVICE_CPU);
#endif
  };
  constexpr CUmemLocationType kDevice = CU_MEM_LOCATION_TYPE_DEVICE;

  EXPECT_EQ(advise(block, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kDevice, 1), CUDA_SUCCESS);
  EXPECT_EQ(advise(block, 64 << 10, CU_MEM_ADVISE_SET_READ_MOSTLY, kDevice, 0), CUDA_SUCCESS);
  EXPECT_EQ(advise(block, 64 << 10, CU_MEM_ADVISE_SET_ACCESSED_BY, kDevice, 1), CUDA_SUCCESS);
  EXPECT_EQ(advise(block, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, kDevice, 0), CUDA_SUCCESS);

  EXPECT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, block, 8192), 1);
  EXPECT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, block, 8193), CU_DEVICE_INVALID);
  EXPECT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, block, 64 << 10), 1);
  int devices[3] = {};
  EXPECT_EQ(cuMemRangeGetAttribute(devices, sizeof devices, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, block, 8192),
            CUDA_SUCCESS);
  EXPECT_THAT(devices, testing::ElementsAre(1, CU_DEVICE_INVALID, CU_DEVICE_INVALID));
  EXPECT_EQ(advise(block, (64 << 10) + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, kDevice, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(advise(block, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, kDevice, 7), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(advise(take(4096), 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, kDevice, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRangeGetAttribute(devices, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, block, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(CudaManaged, IsPrefetchedInStreamOrder) {
  const CUstream slow = stream();
  const CUdeviceptr block = managed(8192);
#if CUDA_VERSION >= 13000
  const auto prefetch = [&](int device) {
    return cuMemPrefetchAsync(block, 8192, CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, device}, 0, slow);
  };
#else
  const auto prefetch = [&](int device) { return cuMemPrefetchAsync(block, 8192, device, slow); };
#endif

  EXPECT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block, 8192), CU_DEVICE_INVALID);
  EXPECT_EQ(prefetch(1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(slow), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block, 8192), 1);
  EXPECT_EQ(prefetch(9), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuStreamAttachMemAsync(slow, block, 0, CU_MEM_ATTACH_SINGLE), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamAttachMemAsync(slow, block + 4096, 0, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

}  // namespace
