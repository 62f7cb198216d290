// The contract on a CUDA runtime that ends in no driver of ours.
#include "shim/backend/cuda_runtime_backend.hpp"
#include "tests/contract/upstream_contract.hpp"

namespace tidemark::test {
namespace {

class CudaRuntimeRig final : public UpstreamRig {
 public:
  CudaRuntimeRig() {
    EXPECT_EQ(cudaSetDevice(kDevice), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&scratch_, kScratch), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(kOther), cudaSuccess);
  }
  ~CudaRuntimeRig() override {
    (void)cudaGetLastError();
    EXPECT_EQ(cudaSetDevice(kDevice), cudaSuccess);
    EXPECT_EQ(cudaFree(scratch_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }

  alloc::Upstream& upstream() override { return upstream_; }
  alloc::ContextId context() override { return alloc::ContextId{1}; }
  void submit_work() override { EXPECT_EQ(cudaMemsetAsync(scratch_, 1, kScratch, stream_), cudaSuccess); }
  void finish_work() override { EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess); }
  bool is_work_done() override { return cudaStreamQuery(stream_) == cudaSuccess; }
  void run_where_calls_are_refused(const std::function<void()>& call) override {
    std::function<void()> copy = call;
    EXPECT_EQ(cudaLaunchHostFunc(stream_, run_call, &copy), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }
  unsigned char byte_at(alloc::DevicePtr ptr) override {
    unsigned char byte = 0;
    EXPECT_EQ(cudaMemcpy(&byte, reinterpret_cast<void*>(ptr.address()), 1, cudaMemcpyDeviceToHost), cudaSuccess);
    return byte;
  }
  // The last error is minded by LastErrorScope, around the whole of a program's call.
  std::uint64_t thread_state() override {
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    return static_cast<std::uint64_t>(device);
  }

 private:
  static constexpr int kDevice = 1;
  static constexpr int kOther = 0;
  static constexpr std::size_t kScratch = 4096;

  static backend::CudaRuntime& runtime() {
    backend::CudaRuntime* found = backend::cuda_runtimes.of_caller("cudaMalloc", __builtin_return_address(0)).runtime;
    EXPECT_NE(found, nullptr);
    return *found;
  }

  backend::CudaRuntimeUpstream upstream_{runtime(), kDevice};
  cudaStream_t stream_ = nullptr;
  void* scratch_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(CudaRuntime, UpstreamContract,
                         testing::Values([] { return std::make_unique<CudaRuntimeRig>(); }));

TEST(LastErrorScope, ForgetsOnlyAnErrorThatCameMeanwhile) {
  backend::CudaRuntime& runtime = *backend::cuda_runtimes.of_caller("cudaMalloc", __builtin_return_address(0)).runtime;
  void* ptr = nullptr;
  const std::size_t too_much = std::size_t{1} << 50;

  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  const backend::LastErrorScope clean{runtime};
  ASSERT_EQ(cudaMalloc(&ptr, too_much), cudaErrorMemoryAllocation);
  clean.forget_ours();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);

  ASSERT_EQ(cudaMalloc(&ptr, too_much), cudaErrorMemoryAllocation);
  const backend::LastErrorScope with_the_programs_own{runtime};
  with_the_programs_own.forget_ours();
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

}  // namespace
}  // namespace tidemark::test
