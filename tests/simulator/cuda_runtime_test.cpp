// The simulated CUDA runtime, called as a program calls it.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "tests/simulator/cuda_per_thread.hpp"

namespace {

class CudaRuntime : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
  }
  void TearDown() override {
    for (const int device : {1, 0}) {
      EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
      EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    }
  }

  static void* take(std::size_t size) {
    void* block = nullptr;
    EXPECT_EQ(cudaMalloc(&block, size), cudaSuccess);
    return block;
  }
};

TEST_F(CudaRuntime, GivesNothingForNothing) {
  void* block = this;

  EXPECT_EQ(cudaMalloc(&block, 0), cudaSuccess);
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST_F(CudaRuntime, MakesAContextOnFirstUseAndWithAFreeOfNull) {
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  unsigned flags = 0;
  int active = -1;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);

  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);

  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
}

TEST_F(CudaRuntime, KeepsTheLastErrorOfEachThread) {
  EXPECT_EQ(cudaFree(this), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);

  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue) << "a success doesn't wipe it out";
  std::thread{[] { EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess); }}.join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaRuntime, KeepsTheDeviceOfEachThread) {
  int device = -1;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);

  std::thread{[] {
    int other = -1;
    EXPECT_EQ(cudaGetDevice(&other), cudaSuccess);
    EXPECT_EQ(other, 0);
  }}.join();
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST_F(CudaRuntime, WorksInTheContextThatTheDriverHasCurrent) {
  CUcontext mine = nullptr;
#if CUDA_VERSION >= 13000
  ASSERT_EQ(cuCtxCreate(&mine, nullptr, 0, 1), CUDA_SUCCESS);
#else
  ASSERT_EQ(cuCtxCreate(&mine, 0, 1), CUDA_SUCCESS);
#endif
  int device = -1;
  CUcontext owner = nullptr;

  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  void* block = take(4096);
  EXPECT_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, reinterpret_cast<CUdeviceptr>(block)),
            CUDA_SUCCESS);
  EXPECT_EQ(owner, mine);
  EXPECT_EQ(cuCtxDestroy(mine), CUDA_SUCCESS);
  EXPECT_EQ(cudaFree(block), cudaErrorInvalidValue);
}

TEST_F(CudaRuntime, StartsAnewAfterAReset) {
  void* block = take(4096);
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);

  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);

  EXPECT_EQ(cudaFree(block), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFree(take(4096)), cudaSuccess);
  std::thread{[] { EXPECT_EQ(cudaFree(take(4096)), cudaSuccess); }}.join();
}

TEST_F(CudaRuntime, StartsAnewInThreadsThatUsedTheDeviceBeforeTheReset) {
  std::thread{[] {
    EXPECT_EQ(cudaFree(take(4096)), cudaSuccess);
    std::thread{[] { EXPECT_EQ(cudaDeviceReset(), cudaSuccess); }}.join();
    EXPECT_EQ(cudaFree(take(4096)), cudaSuccess);
  }}.join();
}

TEST_F(CudaRuntime, DescribesItsDevices) {
  cudaDeviceProp properties{};
  int value = 0;
  int count = 0;

  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_THAT(properties.name, testing::HasSubstr("simulated"));
  EXPECT_EQ(properties.totalGlobalMem, std::size_t{8} << 30);
  EXPECT_EQ(properties.textureAlignment, 512u);
  EXPECT_EQ(properties.maxThreadsDim[2], 64);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 1), cudaSuccess);
  EXPECT_EQ(value, properties.maxThreadsPerBlock);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 7), cudaErrorInvalidDevice);
}

TEST_F(CudaRuntime, TellsVersionsWithoutADevice) {
  int version = 0;

  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, CUDART_VERSION);
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, CUDA_VERSION);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
}

TEST_F(CudaRuntime, HandsOutTheDriversEntryPoints) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;

  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 12000, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuMemAlloc));
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &found, 12000, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
}

TEST_F(CudaRuntime, KeepsTheDefaultStreamsOfThreadsApartFromTheLegacyOne) {
  void* block = take(64);

  EXPECT_EQ(cuda_test::memset_on_own_default_stream(block, 1, 64), cudaSuccess);

  EXPECT_EQ(cuda_test::query_own_default_stream(), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cuda_test::query_own_default_stream(), cudaSuccess);
}

TEST_F(CudaRuntime, CopiesRowsAndBetweenDevices) {
  void* here = nullptr;
  std::size_t pitch = 0;
  EXPECT_EQ(cudaMallocPitch(&here, &pitch, 100, 4), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  void* there = take(64);
  EXPECT_EQ(cudaMemset(there, 3, 64), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  std::array<unsigned char, 8> back{};

  EXPECT_EQ(cudaMemset2D(here, pitch, 1, 100, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(here, 0, there, 1, 2), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(back.data(), 4, here, pitch, 4, 2, cudaMemcpyDeviceToHost), cudaSuccess);

  EXPECT_THAT(back, testing::ElementsAre(3, 3, 1, 1, 1, 1, 1, 1));
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(CudaRuntime, GivesManagedMemoryThatTheHostReads) {
  void* managed = nullptr;
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal), cudaSuccess);

  EXPECT_EQ(cudaMemset(managed, 3, 4096), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);

  EXPECT_EQ(static_cast<unsigned char*>(managed)[4095], 3);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.hostPointer, managed);
  EXPECT_EQ(attributes.devicePointer, managed);
#if CUDART_VERSION >= 13000
  const cudaMemLocation here{cudaMemLocationTypeDevice, 1};
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 4096, here, 0, nullptr), cudaSuccess);
#else
  const int here = 1;
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 4096, here, nullptr), cudaSuccess);
#endif
  int told = -5;
  EXPECT_EQ(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, here), cudaSuccess);
  EXPECT_EQ(cudaMemRangeGetAttribute(&told, sizeof told, cudaMemRangeAttributeLastPrefetchLocation, managed, 4096),
            cudaSuccess);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachGlobal), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}

TEST_F(CudaRuntime, CopiesRowsToArraysAndBack) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc pairs = cudaCreateChannelDesc(8, 8, 0, 0, cudaChannelFormatKindUnsigned);
  cudaChannelFormatDesc told{};
  cudaExtent extent{};
  const std::array<unsigned char, 8> host{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<unsigned char, 4> back{};
  EXPECT_EQ(cudaMallocArray(&array, &pairs, 2, 2, cudaArrayDefault), cudaSuccess);

  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, host.data(), 4, 4, 2, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DFromArray(back.data(), 2, array, 2, 0, 2, 2, cudaMemcpyDeviceToHost), cudaSuccess);

  EXPECT_THAT(back, testing::ElementsAre(3, 4, 7, 8));
  EXPECT_EQ(cudaArrayGetInfo(&told, &extent, nullptr, array), cudaSuccess);
  EXPECT_EQ(told.y, 8);
  EXPECT_EQ(told.z, 0);
  EXPECT_EQ(extent.width, 2u);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
}

TEST_F(CudaRuntime, CountsTheElementsOfAnArrayInThreeDimensions) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  EXPECT_EQ(cudaMalloc3DArray(&array, &floats, {2, 2, 2}, cudaArrayDefault), cudaSuccess);
  std::array<float, 8> host{1, 2, 3, 4, 5, 6, 7, 8};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {host.data(), 2 * sizeof(float), 2, 2};
  copy.dstArray = array;
  copy.extent = {2, 2, 2};
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);

  float back = 0;
  cudaMemcpy3DParms out{};
  out.srcArray = array;
  out.srcPos = {1, 0, 1};
  out.dstPtr = {&back, sizeof(float), 1, 1};
  out.extent = {1, 1, 1};
  out.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3D(&out), cudaSuccess);

  EXPECT_EQ(back, 6);
  out.srcPos = {2, 0, 1};
  EXPECT_EQ(cudaMemcpy3D(&out), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(CudaRuntime, LaunchesKernelsThatTakeTheirTime) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto* kernel = reinterpret_cast<const void*>(&take);

  EXPECT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {1, 1, 1}, nullptr, 0, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {0, 1, 1}, nullptr, 0, stream), cudaErrorInvalidValue);
  cudaFuncAttributes attributes{};
  int blocks = 0;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0), cudaSuccess);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(cudaLaunchKernel(nullptr, {1, 1, 1}, {1, 1, 1}, nullptr, 0, stream), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_F(CudaRuntime, AllocatesFromPoolsOfTheProgram) {
  cudaMemPoolProps what{};
  what.allocType = cudaMemAllocationTypePinned;
  what.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  void* block = nullptr;
  EXPECT_EQ(cudaMemPoolCreate(&pool, &what), cudaSuccess);

  EXPECT_EQ(cudaMallocFromPoolAsync(&block, 4096, pool, nullptr), cudaSuccess);

  EXPECT_NE(block, nullptr);
  EXPECT_EQ(cudaFreeAsync(block, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
}

TEST_F(CudaRuntime, LaunchesWhatItCaptured) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  unsigned char byte = 0;
  void* block = take(16);
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(block, 7, 16, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);

  EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);

  EXPECT_EQ(cudaMemcpy(&byte, block, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(byte, 7);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(CudaRuntime, SaysWhatIsNotSimulated) {
  std::size_t size = 0;
  EXPECT_EQ(cudaGetSymbolSize(&size, "symbol"), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(CudaRuntime, NamesErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

}  // namespace
