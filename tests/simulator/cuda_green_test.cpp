// Green contexts of the simulated CUDA driver: parts of a primary context, with streams of their own.
#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::kMiB;

class CudaGreenContexts : public cuda_test::Cuda {
 protected:
  struct Green {
    CUgreenCtx green = nullptr;
    CUcontext context = nullptr;
  };
  static Green make(CUdevice device = 1) {
    CUdevResource all{};
    CUdevResourceDesc description = nullptr;
    Green made;
    EXPECT_EQ(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    EXPECT_EQ(cuDevResourceGenerateDesc(&description, &all, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuGreenCtxCreate(&made.green, description, device, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxFromGreenCtx(&made.context, made.green), CUDA_SUCCESS);
    return made;
  }
  static CUstream stream_in(const Green& green) {
    CUstream made = nullptr;
    EXPECT_EQ(cuGreenCtxStreamCreate(&made, green.green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    return made;
  }
  static CUcontext retain_primary(CUdevice device = 1) {
    CUcontext primary = nullptr;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary, device), CUDA_SUCCESS);
    return primary;
  }
  static bool primary_is_active(CUdevice device = 1) {
    unsigned flags = 0;
    int active = 0;
    EXPECT_EQ(cuDevicePrimaryCtxGetState(device, &flags, &active), CUDA_SUCCESS);
    return active != 0;
  }
  static unsigned long long id_of(CUcontext of) {
    unsigned long long id = 0;
    EXPECT_EQ(cuCtxGetId(of, &id), CUDA_SUCCESS);
    return id;
  }
  static void destroy(const Green& green) { EXPECT_EQ(cuGreenCtxDestroy(green.green), CUDA_SUCCESS); }
};

TEST_F(CudaGreenContexts, HoldTheirPrimary) {
  EXPECT_FALSE(primary_is_active());
  const Green first = make();
  const Green second = make();
  EXPECT_TRUE(primary_is_active());

  destroy(first);
  EXPECT_TRUE(primary_is_active());
  destroy(second);
  EXPECT_FALSE(primary_is_active());
  EXPECT_EQ(cuGreenCtxDestroy(second.green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuGreenCtxDestroy(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(CudaGreenContexts, AreNoContextsUntilTheyAreConverted) {
  const Green green = make();
  const CUcontext primary = retain_primary();

  EXPECT_EQ(cuCtxSetCurrent(reinterpret_cast<CUcontext>(green.green)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_NE(green.context, primary);
  EXPECT_NE(id_of(green.context), id_of(primary));
  EXPECT_EQ(cuCtxDestroy(green.context), CUDA_ERROR_INVALID_CONTEXT) << "it has a call of its own";
  EXPECT_EQ(cuCtxPushCurrent(green.context), CUDA_SUCCESS);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  destroy(green);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(CudaGreenContexts, LeaveTheirMemoryToTheirPrimary) {
  const CUcontext primary = retain_primary();
  const Green green = make();
  ASSERT_EQ(cuCtxPushCurrent(green.context), CUDA_SUCCESS);
  const CUdeviceptr block = take(3 * kMiB);
  CUcontext owner = nullptr;

  EXPECT_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, block), CUDA_SUCCESS);
  EXPECT_EQ(owner, primary);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  destroy(green);
  EXPECT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(block, 1, 3 * kMiB), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(CudaGreenContexts, AreCoveredByAWaitForTheirPrimaryAndNotTheOtherWayRound) {
  const CUcontext primary = retain_primary();
  const Green green = make();
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  const CUdeviceptr block = take(4096);
  const CUstream of_primary = stream();
  const CUstream of_green = stream_in(green);

  EXPECT_EQ(cuMemsetD8Async(block, 1, 4096, of_primary), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(green.context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(of_primary), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);

  EXPECT_EQ(cuMemsetD8Async(block, 2, 4096, of_green), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(of_green), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(of_green), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(of_primary), CUDA_SUCCESS);
  destroy(green);
  EXPECT_EQ(cuDevicePrimaryCtxReset(1), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(CudaGreenContexts, AreInAnEventOfTheirPrimaryAndTheirsIsOfThemAlone) {
  const CUcontext primary = retain_primary();
  const Green green = make();
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  const CUdeviceptr block = take(4096);
  const CUstream of_primary = stream();
  const CUstream of_green = stream_in(green);
  const CUevent whole = event();
  const CUevent part = event();

  EXPECT_EQ(cuMemsetD8Async(block, 1, 4096, of_primary), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxRecordEvent(green.green, part), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(part), CUDA_SUCCESS) << "nothing was submitted there";
  EXPECT_EQ(cuStreamSynchronize(of_primary), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(block, 1, 4096, of_green), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxRecordEvent(primary, whole), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxRecordEvent(green.context, part), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(whole), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(part), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventSynchronize(whole), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(of_green), CUDA_SUCCESS);
  destroy(green);
  EXPECT_EQ(cuDevicePrimaryCtxReset(1), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(CudaGreenContexts, HaveTheirCapturesInvalidatedByAnEventOfTheirPrimary) {
  const CUcontext primary = retain_primary();
  const Green green = make();
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  const CUstream capturing = stream_in(green);
  const CUevent whole = event();
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);

  EXPECT_EQ(cuCtxRecordEvent(primary, whole), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);

  EXPECT_EQ(cuStreamEndCapture(capturing, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  destroy(green);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(CudaGreenContexts, LeaveTheirStreamsUseless) {
  const CUcontext primary = retain_primary();
  const Green green = make();
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  const CUstream left = stream_in(green);
  CUgreenCtx told = nullptr;
  EXPECT_EQ(cuStreamGetGreenCtx(left, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, green.green);
  EXPECT_EQ(cuStreamGetGreenCtx(nullptr, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, nullptr);

  destroy(green);

  EXPECT_EQ(cuStreamSynchronize(left), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamDestroy(left), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(CudaGreenContexts, EndWithTheirPrimary) {
  const Green green = make();

  EXPECT_EQ(cuDevicePrimaryCtxReset(1), CUDA_SUCCESS);

  EXPECT_EQ(cuGreenCtxDestroy(green.green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS) << "the hold of the one that is gone";
}

TEST_F(CudaGreenContexts, ShareOutADevicesMultiprocessors) {
  CUdevResource all{};
  CUdevResource parts[8]{};
  CUdevResource rest{};
  unsigned groups = 0;
  CUdevResourceDesc description = nullptr;
  CUgreenCtx none = nullptr;

  EXPECT_EQ(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  EXPECT_EQ(all.sm.smCount, 16U);
  EXPECT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &all, nullptr, 0, 5), CUDA_SUCCESS);
  EXPECT_EQ(groups, 2U) << "of six each";
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, 5), CUDA_SUCCESS);
  EXPECT_EQ(parts[1].sm.smCount, 6U);
  EXPECT_EQ(rest.sm.smCount, 4U);
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all, nullptr, 0, 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevResourceGenerateDesc(&description, parts, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxCreate(&none, description, 0, 0), CUDA_ERROR_INVALID_VALUE) << "it wants its default stream";
  EXPECT_EQ(cuGreenCtxCreate(&none, nullptr, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGreenCtxCreate(&none, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxGetDevResource(none, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  EXPECT_EQ(all.sm.smCount, 12U);
  EXPECT_EQ(cuGreenCtxDestroy(none), CUDA_SUCCESS);
}

}  // namespace
