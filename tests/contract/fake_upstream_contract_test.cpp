// The contract on the driver that the allocator's tests use: what they show holds for real ones only if this one is
// like them.
#include "tests/contract/upstream_contract.hpp"

#include "tests/support/fake_upstream.hpp"

namespace tidemark::test {
namespace {

class FakeRig final : public UpstreamRig {
 public:
  explicit FakeRig(bool fences) { fake_.support_fences(fences); }

  alloc::Upstream& upstream() override { return fake_; }
  alloc::ContextId context() override { return kContext; }
  void submit_work() override { fake_.submit_work(); }
  void finish_work() override { fake_.finish_work(); }
  bool is_work_done() override { return fake_.is_idle(); }
  unsigned char byte_at(alloc::DevicePtr ptr) override { return fake_.byte_at(ptr).value_or(0); }
  bool begin_capture() override {
    fake_.begin_capture();
    return true;
  }
  void end_capture() override { fake_.end_capture(); }
  void run_where_calls_are_refused(const std::function<void()>& call) override {
    fake_.refuse_calls(true);
    call();
    fake_.refuse_calls(false);
  }

 private:
  FakeUpstream fake_{8_GiB};
};

INSTANTIATE_TEST_SUITE_P(Fake, UpstreamContract,
                         testing::Values([] { return std::make_unique<FakeRig>(true); },
                                         [] { return std::make_unique<FakeRig>(false); }));

}  // namespace
}  // namespace tidemark::test
