// Stream capture in the simulated CUDA driver: which calls spoil it, and for whom.
#include <thread>

#include "tests/simulator/cuda_world.hpp"

namespace {

class CudaCaptures : public cuda_test::Cuda {
 protected:
  static CUstreamCaptureStatus status_of(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
    return status;
  }
  static CUresult end(CUstream stream) {
    CUgraph graph = nullptr;
    const CUresult code = cuStreamEndCapture(stream, &graph);
    EXPECT_EQ(graph != nullptr, code == CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), graph != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    return code;
  }
  // A call that is unsafe during a capture, in a thread of its own.
  CUresult allocate_elsewhere() const {
    CUresult code = CUDA_SUCCESS;
    std::thread{[&] {
      CUdeviceptr block = 0;
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      code = cuMemAlloc(&block, 512);
    }}.join();
    return code;
  }
};

TEST_F(CudaCaptures, TakeWorkAndDoNothingWithIt) {
  const CUdeviceptr block = take(16);
  const CUstream one = stream();
  EXPECT_EQ(cuMemsetD8(block, 1, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);

  EXPECT_EQ(cuMemsetD8Async(block, 2, 16, one), CUDA_SUCCESS);
  EXPECT_EQ(status_of(one), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(end(one), CUDA_SUCCESS);

  EXPECT_EQ(status_of(one), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(byte_of(block), 1);
}

#if CUDA_VERSION >= 12030
TEST_F(CudaCaptures, MayGoIntoAGraphThatIsThere) {
  const CUstream one = stream();
  CUgraph given = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&given, 0), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamBeginCaptureToGraph(one, nullptr, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBeginCaptureToGraph(one, given, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(status_of(one), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(cuStreamEndCapture(one, &graph), CUDA_SUCCESS);

  EXPECT_EQ(graph, given);
  EXPECT_EQ(cuGraphDestroy(given), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamBeginCaptureToGraph(one, given, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_INVALID_VALUE)
      << "it is gone";
}
#endif

TEST_F(CudaCaptures, InGlobalModeAreSpoiltByAnyThread) {
  const CUstream one = stream();
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);

  EXPECT_EQ(allocate_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);

  EXPECT_EQ(status_of(one), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(cuMemsetD8Async(0, 0, 0, one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(allocate_elsewhere(), CUDA_SUCCESS);
}

TEST_F(CudaCaptures, InThreadLocalModeAreSpoiltByTheirThreadAlone) {
  const CUstream one = stream();
  CUdeviceptr block = 0;
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);

  EXPECT_EQ(allocate_elsewhere(), CUDA_SUCCESS);
  EXPECT_EQ(status_of(one), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(cuMemAlloc(&block, 512), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CudaCaptures, InRelaxedModeBearEverything) {
  const CUstream one = stream();
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);

  EXPECT_EQ(allocate_elsewhere(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(take(512)), CUDA_SUCCESS);

  EXPECT_EQ(end(one), CUDA_SUCCESS);
}

TEST_F(CudaCaptures, BearTheCallsOfAThreadThatIsRelaxed) {
  const CUstream one = stream();
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);

  EXPECT_EQ(cuMemFree(take(512)), CUDA_SUCCESS);

  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(end(one), CUDA_SUCCESS);
}

TEST_F(CudaCaptures, AreSpoiltByWaitsForTheirContext) {
  const CUstream one = stream();
  const CUevent all = event();
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxRecordEvent(context, all), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CudaCaptures, AreSpoiltByTheDefaultStreamIfTheyAreOnABlockingOne) {
  const CUdeviceptr block = take(16);
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  const CUstream independent = stream();
  EXPECT_EQ(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamBeginCapture(independent, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);

  EXPECT_EQ(cuMemsetD8Async(block, 1, 16, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);

  EXPECT_EQ(end(blocking), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(independent), CUDA_SUCCESS);
}

TEST_F(CudaCaptures, BeginOnceAndEndWhereTheyBegan) {
  const CUstream one = stream();
  EXPECT_EQ(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(one), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_ERROR_ILLEGAL_STATE);

  std::thread{[&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(end(one), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }}.join();

  EXPECT_EQ(end(one), CUDA_SUCCESS);
}

TEST_F(CudaCaptures, AreKnownToTheOlderAbisToo) {
  const auto ask = [](const char* name, int version) {
    void* found = nullptr;
    EXPECT_EQ(cuGetProcAddress(name, &found, version, 0, nullptr), CUDA_SUCCESS);
    return found;
  };
  auto* begin = reinterpret_cast<CUresult (*)(CUstream)>(ask("cuStreamBeginCapture", 10000));
  auto* tell = reinterpret_cast<CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*)>(
      ask("cuStreamGetCaptureInfo", 10010));
  const CUstream one = stream();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;

  EXPECT_EQ(begin(one), CUDA_SUCCESS);
  EXPECT_EQ(tell(one, &status, &id), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_GT(id, 0u);
  EXPECT_EQ(allocate_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) << "without a mode it is global";
  EXPECT_EQ(end(one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CudaCaptures, EndWithTheirStream) {
  const CUstream one = stream();
  EXPECT_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);

  EXPECT_EQ(cuStreamDestroy(one), CUDA_SUCCESS);

  EXPECT_EQ(cuMemFree(take(512)), CUDA_SUCCESS);
}

}  // namespace
