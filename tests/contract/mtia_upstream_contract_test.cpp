// The contract on the MTIA driver.
#include <cstdlib>

#include "mtia.h"
#include "shim/backend/mtia_backend.hpp"
#include "tests/contract/upstream_contract.hpp"

namespace tidemark::test {
namespace {

class MtiaRig final : public UpstreamRig {
 public:
  MtiaRig() {
    EXPECT_EQ(mtiaSetDevice(kDevice), MTIA_SUCCESS);
    EXPECT_EQ(mtiaStreamCreate(&stream_), MTIA_SUCCESS);
    EXPECT_EQ(mtiaMalloc(&scratch_, kScratch), MTIA_SUCCESS);
    EXPECT_EQ(mtiaSetDevice(kOther), MTIA_SUCCESS);  // the thread's own device, which no call may change
  }
  ~MtiaRig() override {
    EXPECT_EQ(mtiaFree(scratch_), MTIA_SUCCESS);
    EXPECT_EQ(mtiaStreamDestroy(stream_), MTIA_SUCCESS);
  }

  alloc::Upstream& upstream() override { return upstream_; }
  alloc::ContextId context() override { return alloc::ContextId{1}; }
  void submit_work() override { EXPECT_EQ(mtiaMemsetAsync(scratch_, 1, kScratch, stream_), MTIA_SUCCESS); }
  void finish_work() override { EXPECT_EQ(mtiaStreamSynchronize(stream_), MTIA_SUCCESS); }
  bool is_work_done() override { return mtiaStreamQuery(stream_) == MTIA_SUCCESS; }
  void run_where_calls_are_refused(const std::function<void()>& call) override {
    std::function<void()> copy = call;
    EXPECT_EQ(mtiaLaunchHostFunc(stream_, run_call, &copy), MTIA_SUCCESS);
    EXPECT_EQ(mtiaStreamSynchronize(stream_), MTIA_SUCCESS);
  }
  unsigned char byte_at(alloc::DevicePtr ptr) override {
    unsigned char byte = 0;
    EXPECT_EQ(mtiaMemcpy(&byte, reinterpret_cast<void*>(ptr.address()), 1, mtiaMemcpyDeviceToHost), MTIA_SUCCESS);
    return byte;
  }
  std::uint64_t thread_state() override {
    int device = -1;
    EXPECT_EQ(mtiaGetDevice(&device), MTIA_SUCCESS);
    return static_cast<std::uint64_t>(device);
  }

 private:
  static constexpr int kDevice = 1;
  static constexpr int kOther = 0;
  static constexpr std::size_t kScratch = 4096;

  backend::MtiaUpstream upstream_{kDevice};
  mtiaStream_t stream_ = nullptr;
  void* scratch_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Mtia, UpstreamContract, testing::Values([] { return std::make_unique<MtiaRig>(); }));

}  // namespace
}  // namespace tidemark::test
