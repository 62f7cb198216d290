// Device and host memory of the simulated CUDA driver: what it charges, and what it refuses.
#include <unistd.h>

#include <array>
#include <cstring>
#include <limits>
#include <thread>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;
using cuda_test::kMiB;

class CudaMemory : public cuda_test::Cuda {};

TEST_F(CudaMemory, ChargesWhatIsAllocatedRoundedUpTo512Bytes) {
  const CUdeviceptr small = take(1000);
  const CUdeviceptr large = take(3 * kMiB + 1);
  EXPECT_EQ(free_bytes(), kCapacity - 1024 - 3 * kMiB - 512);

  EXPECT_EQ(cuMemFree(small), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(large), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity);
}

TEST_F(CudaMemory, AlignsLargeBlocksTo2MiBAndSmallOnesTo512Bytes) {
  EXPECT_EQ(take(1) % 512, 0u);
  EXPECT_EQ(take(700) % 512, 0u);
  EXPECT_EQ(take(kMiB) % (2 * kMiB), 0u);
  EXPECT_EQ(take(5 * kMiB + 3) % (2 * kMiB), 0u);
}

TEST_F(CudaMemory, CannotBeReadByTheHost) {
  const CUdeviceptr block = take(4096);

  EXPECT_DEATH(std::memset(reinterpret_cast<void*>(block), 1, 1), "");
}

TEST_F(CudaMemory, RefusesAllocationsThatMakeNoSense) {
  CUdeviceptr block = 0x1234;

  EXPECT_EQ(cuMemAlloc(nullptr, 512), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&block, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&block, kCapacity + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&block, std::numeric_limits<std::size_t>::max()), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(block, 0x1234u);
}

TEST_F(CudaMemory, RefusesDoubleInteriorAndForeignFrees) {
  const CUdeviceptr block = take(4096);
  int ours = 0;

  EXPECT_EQ(cuMemFree(block + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(reinterpret_cast<CUdeviceptr>(&ours)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
}

TEST_F(CudaMemory, IsFreedFromAnotherContextAndAnotherThread) {
  const CUdeviceptr block = take(4096);
  const CUcontext other = cuda_test::create_context(1);

  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  const CUdeviceptr second = take(4096);
  std::thread{[&] { EXPECT_EQ(cuMemFree(second), CUDA_SUCCESS) << "with no context current"; }}.join();
}

TEST_F(CudaMemory, RefusesCopiesBeyondABlock) {
  const CUdeviceptr block = take(1000);
  std::array<char, 2000> host{};

  EXPECT_EQ(cuMemcpyHtoD(block, host.data(), 1000), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(block, host.data(), 1001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), block + 999, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(block + 1000, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(block, host.data(), 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaMemory, RefusesTheWrongKindOfPointer) {
  const CUdeviceptr block = take(64);
  std::array<char, 64> host{};
  const auto as_device = reinterpret_cast<CUdeviceptr>(host.data());

  EXPECT_EQ(cuMemcpyHtoD(as_device, host.data(), 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD(block, as_device, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(reinterpret_cast<void*>(block), block, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(block, as_device, 8), CUDA_SUCCESS);
}

TEST_F(CudaMemory, HoldsWhatIsStoredInIt) {
  const CUdeviceptr block = take(4096);
  std::array<std::uint32_t, 8> back{};

  EXPECT_EQ(cuMemsetD8(block, 0xAB, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD16(block + 4, 0x1234, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32(block + 8, 0xCAFEBABE, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(back.data(), block, 16), CUDA_SUCCESS);
  EXPECT_THAT(back, testing::ElementsAre(0xABABABAB, 0x12341234, 0xCAFEBABE, 0xABABABAB, 0, 0, 0, 0));
  EXPECT_EQ(cuMemsetD32(block + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaMemory, IsCopiedInRows) {
  CUdeviceptr block = 0;
  std::size_t pitch = 0;
  EXPECT_EQ(cuMemAllocPitch(&block, &pitch, 100, 3, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 512u);
  std::array<unsigned char, 12> host{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::array<unsigned char, 12> back{};

  CUDA_MEMCPY2D up{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = host.data();
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = block;
  up.dstPitch = pitch;
  up.WidthInBytes = 4;
  up.Height = 3;
  EXPECT_EQ(cuMemcpy2D(&up), CUDA_SUCCESS);
  CUDA_MEMCPY2D down{};
  down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  down.srcDevice = block;
  down.srcPitch = pitch;
  down.srcXInBytes = 1;
  down.srcY = 1;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = back.data();
  down.dstPitch = 3;
  down.WidthInBytes = 3;
  down.Height = 2;
  EXPECT_EQ(cuMemcpy2D(&down), CUDA_SUCCESS);

  EXPECT_THAT(back, testing::ElementsAre(6, 7, 8, 10, 11, 12, 0, 0, 0, 0, 0, 0));
  down.dstPitch = 2;
  EXPECT_EQ(cuMemcpy2D(&down), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaMemory, IsPoisonedWhenFreed) {
  const CUdeviceptr block = take(4096);
  EXPECT_EQ(cuMemsetD8(block, 1, 4096), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);

  const CUdeviceptr again = take(4096);

  ASSERT_EQ(again, block);
  EXPECT_EQ(byte_of(again), 0xDB);
}

TEST_F(CudaMemory, TellsTheRangeAroundAnAddress) {
  const CUdeviceptr block = take(1000);
  CUdeviceptr base = 0;
  std::size_t size = 0;

  EXPECT_EQ(cuMemGetAddressRange(&base, &size, block + 999), CUDA_SUCCESS);
  EXPECT_EQ(base, block);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(cuMemGetAddressRange(nullptr, nullptr, block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, block + 1000), CUDA_ERROR_NOT_FOUND);
}

TEST_F(CudaMemory, TellsWhatAPointerIs) {
  const CUdeviceptr block = take(1000);
  void* pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 100, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  unsigned type = 0;
  CUcontext owner = nullptr;
  int ordinal = -1;

  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block + 5), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, block), CUDA_SUCCESS);
  EXPECT_EQ(owner, context);
  EXPECT_EQ(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, block), CUDA_SUCCESS);
  EXPECT_EQ(ordinal, 0);
  const auto address = reinterpret_cast<CUdeviceptr>(pinned);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&type)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

TEST_F(CudaMemory, GivesANewBufferIdToALaterBlockAtTheSameAddress) {
  const CUdeviceptr block = take(1000);
  unsigned long long first = 0;
  unsigned long long second = 0;
  EXPECT_EQ(cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);

  ASSERT_EQ(take(1000), block);

  EXPECT_EQ(cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, block), CUDA_SUCCESS);
  EXPECT_NE(first, second);
}

TEST_F(CudaMemory, AnswersThePluralQuestionForUnknownPointersToo) {
  unsigned type = 77;
  unsigned long long address = 77;
  std::array<CUpointer_attribute, 2> attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
  std::array<void*, 2> out{&type, &address};

  EXPECT_EQ(cuPointerGetAttributes(2, attributes.data(), out.data(), reinterpret_cast<CUdeviceptr>(&type)),
            CUDA_SUCCESS);

  EXPECT_EQ(type, 0u);
  EXPECT_EQ(address, 0u);
}

TEST_F(CudaMemory, PinsHostMemoryOnce) {
  alignas(4096) static std::array<char, 8192> ours{};
  unsigned flags = 0;

  EXPECT_EQ(cuMemHostRegister(ours.data(), 4096, CU_MEMHOSTREGISTER_PORTABLE), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(ours.data() + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostGetFlags(&flags, ours.data() + 100), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP});
  EXPECT_EQ(cuMemFreeHost(ours.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostUnregister(ours.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(ours.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(CudaMemory, RemembersThatItsCopiesAreToBeSynchronous) {
  const CUdeviceptr block = take(4096);
  unsigned on = 1;
  unsigned told = 0;
  EXPECT_EQ(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block + 5), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block), CUDA_SUCCESS);
  EXPECT_EQ(told, 1u);

  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  const CUdeviceptr again = take(4096);
  EXPECT_EQ(again, block);
  EXPECT_EQ(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, again), CUDA_SUCCESS);
  EXPECT_EQ(told, 0u) << "another allocation";
  EXPECT_EQ(cuMemFree(again), CUDA_SUCCESS);
}

TEST_F(CudaMemory, HasTokensForNetworkCardsWhereItIsTheDevices) {
  const CUdeviceptr block = take(4096);
  CUDA_POINTER_ATTRIBUTE_P2P_TOKENS alone{};
  CUDA_POINTER_ATTRIBUTE_P2P_TOKENS among{};
  unsigned type = 0;
  std::array attributes = {CU_POINTER_ATTRIBUTE_P2P_TOKENS, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  std::array<void*, 2> out = {&among, &type};
  EXPECT_EQ(cuPointerGetAttribute(&alone, CU_POINTER_ATTRIBUTE_P2P_TOKENS, block + 5), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttributes(2, attributes.data(), out.data(), block), CUDA_SUCCESS);
  EXPECT_NE(alone.p2pToken, 0u);
  EXPECT_EQ(among.p2pToken, alone.p2pToken);

  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 4096), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&alone, CU_POINTER_ATTRIBUTE_P2P_TOKENS, reinterpret_cast<CUdeviceptr>(pinned)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(CudaMemory, IsNamedByADescriptorPageByPage) {
  const CUdeviceptr block = take(2 * kMiB);
  int fd = -1;
  constexpr auto kDmaBuf = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;

  EXPECT_EQ(cuMemGetHandleForAddressRange(&fd, block + 4096, 4096, kDmaBuf, 0), CUDA_SUCCESS);
  EXPECT_EQ(close(fd), 0);
  EXPECT_EQ(cuMemGetHandleForAddressRange(&fd, block + 512, 4096, kDmaBuf, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetHandleForAddressRange(&fd, block, 2 * kMiB + 4096, kDmaBuf, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(CudaMemory, KeepsTheFirstAbisApart) {
  // 32-bit addresses can't be had; the names are there and say so.
  CUresult (*allocate)(unsigned*, unsigned) = nullptr;
  void* found = nullptr;
  ASSERT_EQ(cuGetProcAddress("cuMemAlloc", &found, 2000, 0, nullptr), CUDA_SUCCESS);
  std::memcpy(&allocate, &found, sizeof allocate);
  unsigned address = 5;

  EXPECT_EQ(allocate(&address, 512), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(address, 5u);
}

}  // namespace
