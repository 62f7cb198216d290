// Stream-ordered memory of the simulated CUDA driver.
#include <unistd.h>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kCapacity;
using cuda_test::kMiB;

class CudaPools : public cuda_test::Cuda {
 protected:
  static CUdeviceptr take_in(CUstream stream, std::size_t size) {
    CUdeviceptr block = 0;
    EXPECT_EQ(cuMemAllocAsync(&block, size, stream), CUDA_SUCCESS);
    return block;
  }
};

TEST_F(CudaPools, GiveMemoryBackWhenTheStreamGetsThere) {
  const CUstream slow = stream();
  const CUdeviceptr block = take_in(slow, kMiB);
  EXPECT_EQ(cuMemsetD8Async(block, 1, kMiB, slow), CUDA_SUCCESS);

  EXPECT_EQ(cuMemFreeAsync(block, slow), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity - kMiB);
  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_SUCCESS);

  EXPECT_EQ(free_bytes(), kCapacity);
}

TEST_F(CudaPools, AlsoFreeOrdinaryMemoryInOrder) {
  const CUstream slow = stream();
  const CUdeviceptr block = take(kMiB);

  EXPECT_EQ(cuMemFreeAsync(block, slow), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(block, slow), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_SUCCESS);

  EXPECT_EQ(free_bytes(), kCapacity);
}

TEST_F(CudaPools, OutliveTheContext) {
  const CUcontext second = cuda_test::create_context(0);
  const CUdeviceptr block = take_in(nullptr, kMiB);

  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);

  EXPECT_EQ(free_bytes(), kCapacity - kMiB);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity);
}

TEST_F(CudaPools, WaitForMemoryBeforeTheySayThatThereIsNone) {
  const CUstream slow = stream();
  const CUdeviceptr most = take_in(slow, kCapacity - kMiB);
  EXPECT_EQ(cuMemFreeAsync(most, slow), CUDA_SUCCESS);

  const CUdeviceptr ordered = take_in(slow, kCapacity - kMiB);
  EXPECT_EQ(cuMemFreeAsync(ordered, slow), CUDA_SUCCESS);
  const CUdeviceptr plain = take(kCapacity - kMiB);

  EXPECT_EQ(cuMemFree(plain), CUDA_SUCCESS);
}

TEST_F(CudaPools, TellTheirUse) {
  CUmemoryPool pool = nullptr;
  CUmemoryPool other = nullptr;
  cuuint64_t used = 1;
  cuuint64_t highest = 0;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&other, 1), CUDA_SUCCESS);
  EXPECT_NE(pool, other);
  cuuint64_t zero = 0;
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero), CUDA_SUCCESS);

  const CUdeviceptr block = take_in(nullptr, 3 * kMiB);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);

  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &highest), CUDA_SUCCESS);
  EXPECT_EQ(highest, 3 * kMiB);
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &highest), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolTrimTo(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaPools, AreNamedByTheirPointers) {
  const CUdeviceptr block = take_in(nullptr, 4096);
  const CUdeviceptr plain = take(4096);
  CUmemoryPool pool = nullptr;
  CUmemoryPool named = nullptr;
  CUcontext owner = nullptr;
  CUipcMemHandle handle{};
  ASSERT_EQ(cuDeviceGetMemPool(&pool, 0), CUDA_SUCCESS);

  EXPECT_EQ(cuPointerGetAttribute(&named, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block), CUDA_SUCCESS);
  EXPECT_EQ(named, pool);
  EXPECT_EQ(cuPointerGetAttribute(&named, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, plain), CUDA_SUCCESS);
  EXPECT_EQ(named, nullptr);
  EXPECT_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuIpcGetMemHandle(&handle, block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

CUmemPoolProps on_device(int device, bool shareable = false) {
  CUmemPoolProps what{};
  what.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  if (shareable) what.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return what;
}

TEST_F(CudaPools, MayBeTheProgramsOwn) {
  CUmemoryPool pool = nullptr;
  CUmemoryPool named = nullptr;
  CUdeviceptr block = 0;
  const CUmemPoolProps what = on_device(1);
  cuuint64_t used = 0;
  EXPECT_EQ(cuMemPoolCreate(&pool, &what), CUDA_SUCCESS);

  EXPECT_EQ(cuMemAllocFromPoolAsync(&block, kMiB, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity) << "it is the other device's";
  EXPECT_EQ(cuPointerGetAttribute(&named, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block), CUDA_SUCCESS);
  EXPECT_EQ(named, pool);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, kMiB);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&block, kMiB, pool, nullptr), CUDA_ERROR_INVALID_VALUE);

  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS) << "blocks outlive their pool";
}

#if CUDA_VERSION >= 12020
TEST_F(CudaPools, MayBeTheHosts) {
  CUmemPoolProps what = on_device(0);
  what.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &what), CUDA_SUCCESS);
  const CUstream slow = stream();
  CUdeviceptr blocks[2] = {};
  for (CUdeviceptr& block : blocks) {
    ASSERT_EQ(cuMemAllocFromPoolAsync(&block, 5000, pool, slow), CUDA_SUCCESS);
  }
  unsigned type = 0;
  cuuint64_t used = 0;
  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, blocks[0]), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(cuMemsetD8Async(blocks[0], 9, 5000, slow), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_SUCCESS);
  EXPECT_EQ(reinterpret_cast<unsigned char*>(blocks[0])[4999], 9);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 10000u);

  EXPECT_EQ(cuMemFree(blocks[0]), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(blocks[0]), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(blocks[1], slow), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(blocks[1]), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
  what.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemoryPool shared = nullptr;
  EXPECT_EQ(cuMemPoolCreate(&shared, &what), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}
#endif

TEST_F(CudaPools, AreTakenFromAsTheDeviceIsTold) {
  CUmemoryPool pool = nullptr;
  CUmemoryPool current = nullptr;
  CUmemPoolProps what = on_device(0);
#if CUDA_VERSION >= 12020
  what.maxSize = 3 * kMiB;
#endif
  EXPECT_EQ(cuMemPoolCreate(&pool, &what), CUDA_SUCCESS);

  EXPECT_EQ(cuDeviceSetMemPool(1, pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_SUCCESS);
  const CUdeviceptr block = take_in(nullptr, 2 * kMiB);
  EXPECT_EQ(cuPointerGetAttribute(&current, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block), CUDA_SUCCESS);
  EXPECT_EQ(current, pool);
#if CUDA_VERSION >= 12020
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAllocAsync(&more, 2 * kMiB, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
#endif
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);

  CUmemoryPool standard = nullptr;
  EXPECT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetDefaultMemPool(&standard, 0), CUDA_SUCCESS);
  EXPECT_EQ(current, standard);
  EXPECT_EQ(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
}

#if CUDA_VERSION >= 13000
TEST_F(CudaPools, AreFoundByLocation) {
  CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemLocation host{CU_MEM_LOCATION_TYPE_HOST, 0};
  CUmemoryPool pool = nullptr;
  CUmemoryPool standard = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&standard, 0), CUDA_SUCCESS);

  EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  EXPECT_EQ(pool, standard);
  EXPECT_EQ(cuMemGetMemPool(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, standard), CUDA_SUCCESS);
}
#endif

TEST_F(CudaPools, SayWhoHasAccess) {
  CUmemoryPool pool = nullptr;
  CUmemAccess_flags flags{};
  CUmemLocation there{CU_MEM_LOCATION_TYPE_DEVICE, 1};
  const CUmemAccessDesc wanted{there, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);

  EXPECT_EQ(cuMemPoolGetAccess(&flags, pool, &there), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_EQ(cuMemPoolSetAccess(pool, &wanted, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAccess(&flags, pool, &there), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(CudaPools, GoToOtherProcessesIfMadeForThat) {
  CUmemoryPool own = nullptr;
  CUmemoryPool pool = nullptr;
  CUmemoryPool imported = nullptr;
  CUdeviceptr block = 0;
  CUdeviceptr opened = 0;
  CUmemPoolPtrExportData data{};
  int fd = -1;
  constexpr auto kType = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&own, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&fd, own, kType, 0), CUDA_ERROR_INVALID_VALUE);
  const CUmemPoolProps what = on_device(0, true);
  EXPECT_EQ(cuMemPoolCreate(&pool, &what), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&block, 4096, pool, nullptr), CUDA_SUCCESS);

  EXPECT_EQ(cuMemPoolExportToShareableHandle(&fd, pool, kType, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolExportPointer(&data, block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolExportPointer(&data, take_in(nullptr, 512)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), kType, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&opened, 512, imported, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolImportPointer(&opened, pool, &data), CUDA_ERROR_INVALID_VALUE) << "no imported pool";
  EXPECT_EQ(cuMemPoolImportPointer(&opened, imported, &data), CUDA_ERROR_INVALID_CONTEXT) << "of this process";
  EXPECT_EQ(close(fd), 0);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

}  // namespace
