// Streams, events, host functions and kernels of the simulated CUDA driver. The clock stands still but for waits.
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/simulator/cuda_world.hpp"

namespace {

class CudaStreams : public cuda_test::Cuda {
 protected:
  // What is in memory now, whatever is still to come.
  static unsigned char now(CUdeviceptr block) {
    const CUstream other = stream();
    void* pinned = nullptr;
    EXPECT_EQ(cuMemHostAlloc(&pinned, 1, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoHAsync(pinned, block, 1, other), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
    const unsigned char byte = *static_cast<unsigned char*>(pinned);
    return byte;
  }
};

TEST_F(CudaStreams, WorkAsLateAsTheyMay) {
  const CUdeviceptr block = take(4096);
  const CUstream slow = stream();
  EXPECT_EQ(cuMemsetD8(block, 1, 4096), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);

  EXPECT_EQ(cuMemsetD8Async(block, 2, 4096, slow), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamQuery(slow), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(now(block), 1);
  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(slow), CUDA_SUCCESS);
  EXPECT_EQ(now(block), 2);
}

TEST_F(CudaStreams, AreWaitedForByAFree) {
  const CUdeviceptr block = take(4096);
  const CUdeviceptr witness = take(4096);
  const CUstream slow = stream();
  EXPECT_EQ(cuMemsetD8Async(witness, 3, 4096, slow), CUDA_SUCCESS);

  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamQuery(slow), CUDA_SUCCESS);
}

TEST_F(CudaStreams, AreOrderedByTheLegacyDefaultStreamUnlessTheyAreNonBlocking) {
  const CUdeviceptr block = take(16);
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  const CUstream independent = stream();
  EXPECT_EQ(cuMemsetD8Async(block, 1, 16, blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(block, 9, 16, independent), CUDA_SUCCESS);

  EXPECT_EQ(cuMemsetD8Async(block, 2, 16, CU_STREAM_LEGACY), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamQuery(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(CudaStreams, OfAThreadAreItsOwn) {
  CUstream in_main = nullptr;
  unsigned long long main_id = 0;
  unsigned long long other_id = 0;
  EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &main_id), CUDA_SUCCESS);

  std::thread{[&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &other_id), CUDA_SUCCESS);
  }}.join();

  unsigned long long again = 0;
  EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &again), CUDA_SUCCESS);
  EXPECT_EQ(main_id, again);
  EXPECT_NE(main_id, other_id);
  EXPECT_EQ(cuStreamGetId(in_main, &again), CUDA_SUCCESS);
  EXPECT_NE(main_id, again);
}

TEST_F(CudaStreams, OfAThreadAreWhatThePerThreadEntriesMeanBy0) {
  void* found = nullptr;
  CUresult (*query)(CUstream) = nullptr;
  ASSERT_EQ(cuGetProcAddress("cuStreamQuery", &found, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr),
            CUDA_SUCCESS);
  std::memcpy(&query, &found, sizeof query);
  const CUdeviceptr block = take(16);

  EXPECT_EQ(cuMemsetD8Async(block, 1, 16, CU_STREAM_PER_THREAD), CUDA_SUCCESS);

  EXPECT_EQ(query(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(query(CU_STREAM_LEGACY), CUDA_SUCCESS);
}

TEST_F(CudaStreams, WaitForEventsOfOthers) {
  const CUdeviceptr block = take(16);
  const CUstream first = stream();
  const CUstream second = stream();
  const CUevent recorded = event();
  EXPECT_EQ(cuMemsetD8Async(block, 1, 16, first), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(recorded, first), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(recorded), CUDA_ERROR_NOT_READY);

  EXPECT_EQ(cuStreamWaitEvent(second, recorded, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);

  EXPECT_EQ(cuEventQuery(recorded), CUDA_SUCCESS);
}

TEST_F(CudaStreams, AreAllInAnEventOfTheContext) {
  const CUdeviceptr block = take(16);
  const CUstream first = stream();
  const CUstream second = stream(CU_STREAM_DEFAULT);
  const CUevent all = event(CU_EVENT_DISABLE_TIMING);
  EXPECT_EQ(cuMemsetD8Async(block, 1, 8, first), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(block + 8, 1, 8, second), CUDA_SUCCESS);

  EXPECT_EQ(cuCtxRecordEvent(context, all), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(all), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventSynchronize(all), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamQuery(first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxRecordEvent(nullptr, all), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxRecordEvent(context, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaStreams, AreMeasuredByEvents) {
  const CUdeviceptr block = take(16);
  const CUevent start = event();
  const CUevent end = event();
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(start, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(block, 1, 16, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(end, nullptr), CUDA_SUCCESS);

  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);

  EXPECT_GT(milliseconds, 0.0F);
}

TEST_F(CudaStreams, ReadPageableMemoryAtOnceAndPinnedMemoryLate) {
  const CUdeviceptr block = take(2);
  const CUstream slow = stream();
  unsigned char pageable = 1;
  void* pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 1, 0), CUDA_SUCCESS);
  *static_cast<unsigned char*>(pinned) = 1;
  EXPECT_EQ(cuMemcpyHtoDAsync(block, &pageable, 1, slow), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoDAsync(block + 1, pinned, 1, slow), CUDA_SUCCESS);

  pageable = 2;
  *static_cast<unsigned char*>(pinned) = 2;
  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_SUCCESS);

  EXPECT_EQ(byte_of(block), 1);
  EXPECT_EQ(byte_of(block + 1), 2);
}

TEST_F(CudaStreams, CallHostFunctionsThatMustNotCallTheDriver) {
  struct Seen {
    std::atomic<bool> called{false};
    CUresult inside = CUDA_SUCCESS;
  } seen;
  const CUstream one = stream();

  EXPECT_EQ(cuLaunchHostFunc(
                one,
                [](void* data) {
                  auto* where = static_cast<Seen*>(data);
                  CUdeviceptr block = 0;
                  where->inside = cuMemAlloc(&block, 512);
                  where->called = true;
                },
                &seen),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);

  EXPECT_TRUE(seen.called);
  EXPECT_EQ(seen.inside, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(cuLaunchHostFunc(one, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaStreams, RunKernelsThatTakeTheirTime) {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  const CUstream one = stream();
  ASSERT_EQ(cuModuleLoadData(&module, "anything"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&kernel, module, "add"), CUDA_SUCCESS);

  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, one, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);

  EXPECT_EQ(cuLaunchKernel(kernel, 0, 1, 1, 32, 1, 1, 0, one, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, one, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaStreams, NeverAcceptAStaleHandle) {
  const CUstream gone = stream();
  const CUevent gone_event = event();
  EXPECT_EQ(cuStreamDestroy(gone), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(gone_event), CUDA_SUCCESS);

  EXPECT_NE(stream(), gone);
  EXPECT_EQ(cuStreamDestroy(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(gone_event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaStreams, SpoilTheirContextWhenMemoryGoesUnderTheirWork) {
  const CUcontext second = cuda_test::create_context(0);
  CUdeviceptr block = 0;
  const CUstream slow = stream();
  ASSERT_EQ(cuMemAllocAsync(&block, 4096, slow), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(block, 1, 4096, slow), CUDA_SUCCESS);

  // Stream-ordered memory is freed without a wait: the program promised that its work is done.
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemAlloc(&block, 512), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(take(512)), CUDA_SUCCESS) << "other contexts are well";
}

TEST_F(CudaStreams, TakeKernelsOfLibrariesToo) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  int blocks = 0;
  int registers = 0;
  EXPECT_EQ(cuLibraryLoadData(&library, "image", nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "any"), CUDA_SUCCESS);
  auto* const function = reinterpret_cast<CUfunction>(kernel);
  const CUstream one = stream();
  CUlaunchConfig how{};
  how.gridDimX = how.gridDimY = how.gridDimZ = how.blockDimX = how.blockDimY = how.blockDimZ = 1;
  how.hStream = one;

  EXPECT_EQ(cuLaunchKernelEx(&how, function, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 8);
  EXPECT_EQ(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function), CUDA_SUCCESS);
  EXPECT_GT(registers, 0);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernelEx(&how, function, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernelEx(nullptr, function, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
