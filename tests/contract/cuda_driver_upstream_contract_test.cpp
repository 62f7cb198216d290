// The contract on the CUDA driver, in the primary context of one device, from threads in which another is current.
#include "shim/backend/cuda_driver_backend.hpp"
#include "shim/backend/cuda_fences.hpp"
#include "tests/contract/upstream_contract.hpp"

namespace tidemark::test {
namespace {

class CudaDriverRig final : public UpstreamRig {
 public:
  CudaDriverRig() {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&owner_, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&other_, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(owner_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc_v2(&scratch_, kScratch), CUDA_SUCCESS);
    contexts_.note(owner_, 1, backend::CudaContexts::Kind::Primary);
    contexts_.note(other_, 0, backend::CudaContexts::Kind::Primary);
    const auto place = contexts_.current();
    EXPECT_TRUE(place.has_value());
    EXPECT_EQ(place->device, 1);
    context_ = place->context;
    EXPECT_EQ(cuCtxSetCurrent(other_), CUDA_SUCCESS);
  }
  ~CudaDriverRig() override {
    EXPECT_EQ(cuCtxSetCurrent(owner_), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree_v2(scratch_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy_v2(stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
    contexts_.mark_ended(context_);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  }

  alloc::Upstream& upstream() override { return upstream_; }
  alloc::ContextId context() override { return context_; }
  bool begin_capture() override {
    gate_.announce();
    EXPECT_EQ(cuStreamBeginCapture_v2(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    gate_.begun(stream_, owner_);
    return true;
  }
  void end_capture() override {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS) << "a call of ours has invalidated it";
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    gate_.ended(stream_);
  }
  void submit_work() override {
    EXPECT_EQ(cuCtxPushCurrent_v2(owner_), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8Async(scratch_, 1, kScratch, stream_), CUDA_SUCCESS);
    CUcontext popped = nullptr;
    EXPECT_EQ(cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
  }
  void finish_work() override { EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS); }
  bool is_work_done() override { return cuStreamQuery(stream_) == CUDA_SUCCESS; }
  void run_where_calls_are_refused(const std::function<void()>& call) override {
    std::function<void()> copy = call;
    EXPECT_EQ(cuLaunchHostFunc(stream_, run_call, &copy), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  }
  unsigned char byte_at(alloc::DevicePtr ptr) override {
    unsigned char byte = 0;
    CUcontext popped = nullptr;
    EXPECT_EQ(cuCtxPushCurrent_v2(owner_), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH_v2(&byte, ptr.address(), 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
    return byte;
  }
  std::uint64_t thread_state() override {
    CUcontext current = nullptr;
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    return reinterpret_cast<std::uint64_t>(current);
  }

 private:
  static constexpr std::size_t kScratch = 4096;

  // One a process, as in the library: threads remember what they found in it.
  static inline constinit backend::CudaContexts contexts_;
  static inline constinit backend::CudaFences fences_;
  backend::CaptureGate gate_;
  backend::CudaDriverUpstream upstream_{contexts_, gate_, fences_};
  alloc::ContextId context_{};
  CUcontext owner_ = nullptr;
  CUcontext other_ = nullptr;
  CUstream stream_ = nullptr;
  CUdeviceptr scratch_ = 0;
};

INSTANTIATE_TEST_SUITE_P(CudaDriver, UpstreamContract,
                         testing::Values([] { return std::make_unique<CudaDriverRig>(); }));

}  // namespace
}  // namespace tidemark::test
