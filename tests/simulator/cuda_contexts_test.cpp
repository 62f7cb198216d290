// Contexts of the simulated CUDA driver: their lives, the stack of current ones, and devices.
#define CUDA_ENABLE_DEPRECATED  // cuCtxAttach, cuCtxDetach
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "tests/simulator/cuda_world.hpp"

namespace {

using cuda_test::create_context;
using cuda_test::kMiB;

class CudaContexts : public cuda_test::Cuda {
 protected:
  static CUcontext current() {
    CUcontext now = nullptr;
    EXPECT_EQ(cuCtxGetCurrent(&now), CUDA_SUCCESS);
    return now;
  }
  static bool primary_is_active(CUdevice device) {
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
};

TEST_F(CudaContexts, AreStackedInEachThread) {
  const CUcontext second = create_context(1);
  CUdevice device = -1;
  CUcontext popped = nullptr;

  EXPECT_EQ(current(), second);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, second);
  EXPECT_EQ(current(), context);
  std::thread{[] { EXPECT_EQ(current(), nullptr); }}.join();
  EXPECT_EQ(cuCtxPushCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(current(), context);
  EXPECT_EQ(cuCtxSetCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
}

TEST_F(CudaContexts, TakeTheirMemoryStreamsAndEventsWithThem) {
  const std::size_t before = free_bytes();
  const CUcontext second = create_context(0);
  const CUdeviceptr block = take(3 * kMiB);
  const CUstream late = stream();
  const CUevent recorded = event();
  EXPECT_EQ(cuMemsetD8Async(block, 1, 3 * kMiB, late), CUDA_SUCCESS);

  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);

  EXPECT_EQ(current(), context);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(late), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(recorded), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(CudaContexts, StayCurrentElsewhereWhenTheyAreDestroyed) {
  const CUcontext second = create_context(0);

  std::thread{[&] {
    EXPECT_EQ(cuCtxSetCurrent(second), CUDA_SUCCESS);
    std::thread{[&] { EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS); }}.join();
    CUdeviceptr block = 0;
    EXPECT_EQ(cuMemAlloc(&block, 512), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  }}.join();
}

TEST_F(CudaContexts, OfADeviceAreSharedByAllWhoRetainIt) {
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  EXPECT_FALSE(primary_is_active(1));
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&first, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);

  EXPECT_EQ(first, second);
  EXPECT_EQ(current(), context) << "retaining makes nothing current";
  EXPECT_EQ(cuCtxDestroy(first), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_TRUE(primary_is_active(1));
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_FALSE(primary_is_active(1));
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(CudaContexts, OfADeviceLiveAgainAfterAReset) {
  CUcontext primary = nullptr;
  CUcontext again = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  const CUdeviceptr block = take(4096);
  const unsigned long long id = id_of(primary);

  EXPECT_EQ(cuDevicePrimaryCtxReset(1), CUDA_SUCCESS);
  CUdeviceptr none = 0;
  EXPECT_EQ(cuMemAlloc(&none, 512), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&again, 1), CUDA_SUCCESS);

  EXPECT_EQ(again, primary);
  EXPECT_NE(id_of(primary), id) << "an id is never used twice";
  EXPECT_EQ(cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(take(4096)), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(CudaContexts, AreCountedByAttachAndDetach) {
  CUcontext attached = nullptr;
  const CUcontext second = create_context(0);

  EXPECT_EQ(cuCtxAttach(&attached, 0), CUDA_SUCCESS);
  EXPECT_EQ(attached, second);
  EXPECT_EQ(cuCtxDetach(second), CUDA_SUCCESS);
  EXPECT_EQ(current(), second);
  EXPECT_EQ(cuCtxDetach(second), CUDA_SUCCESS);
  EXPECT_EQ(current(), context);
}

TEST_F(CudaContexts, HaveIdsThatAreNeverUsedTwice) {
  std::set<unsigned long long> ids;
  for (int i = 0; i < 5; ++i) {
    const CUcontext made = create_context(i % 2);
    EXPECT_TRUE(ids.insert(id_of(made)).second);
    EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuCtxGetId(reinterpret_cast<CUcontext>(this), nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

#if CUDA_VERSION >= 13000
TEST_F(CudaContexts, AreTheCurrentOneWhereGarbageIsHandedOver) {
  CUdevice device = -1;

  EXPECT_EQ(cuCtxGetDevice_v2(&device, reinterpret_cast<CUcontext>(0x1234)), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(0x1234)), CUDA_SUCCESS);
}
#endif

TEST_F(CudaContexts, LetPeersInOnce) {
  const CUcontext peer = create_context(1);
  ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
  int can = 0;

  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cuCtxEnablePeerAccess(peer, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(peer, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(cuCtxDisablePeerAccess(peer), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDisablePeerAccess(peer), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_EQ(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(cuCtxDestroy(peer), CUDA_SUCCESS);
}

TEST_F(CudaContexts, CopyBetweenDevices) {
  const CUdeviceptr here = take(64);
  const CUcontext second = create_context(1);
  const CUdeviceptr there = take(64);
  EXPECT_EQ(cuMemsetD8(there, 9, 64), CUDA_SUCCESS);

  EXPECT_EQ(cuMemcpyPeer(here, context, there, second, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);

  EXPECT_EQ(byte_of(here), 9);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
}

TEST_F(CudaContexts, StandOnDevicesThatCanBeTold) {
  char name[64] = "";
  char bus[16] = "";
  CUuuid first{};
  CUuuid second{};
  CUdevice found = -1;
  int alignment = 0;

  EXPECT_EQ(cuDeviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
  EXPECT_THAT(name, testing::HasSubstr("simulated"));
  EXPECT_EQ(cuDeviceGetUuid(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetUuid(&second, 1), CUDA_SUCCESS);
  EXPECT_NE(std::memcmp(&first, &second, sizeof first), 0);
  EXPECT_EQ(cuDeviceGetPCIBusId(bus, sizeof bus, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&found, bus), CUDA_SUCCESS);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(cuDeviceGetAttribute(&alignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 0), CUDA_SUCCESS);
  EXPECT_EQ(alignment, 512);
  EXPECT_EQ(cuDeviceGetAttribute(&alignment, static_cast<CUdevice_attribute>(250), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGet(&found, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaContexts, SayWhatIsNotSimulated) {
  const void* table = nullptr;
  CUuuid uuid{};

  EXPECT_EQ(cuGetExportTable(&table, &uuid), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
