// Stream-ordered memory of the simulated CUDA driver.
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

}  // namespace
