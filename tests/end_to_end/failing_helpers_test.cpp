// Calls that only the library makes fail, one at a time and for good: the program gets what it would have got without
// the library, whichever they are.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {
namespace {

struct Helper {
  std::string program;
  std::string knob;
  std::string call;
  bool may_fail_for_good = true;
};
void PrintTo(const Helper& helper, std::ostream* to) { *to << helper.call; }

class FailingHelper : public testing::TestWithParam<Helper> {
 protected:
  [[nodiscard]] Outcome under_shim(const std::string& rule, const char* free_mode) const {
    const ShimWorld world;
    Launch launch = world.under_shim(command_);
    launch.environment[GetParam().knob] = GetParam().call + ":" + rule;
    launch.environment["TIDEMARK_FREE"] = free_mode;
    launch.environment["TIDEMARK_KEEP"] = "none";
    return run(launch);
  }

  const std::vector<std::string> command_{std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/" + GetParam().program};
};

TEST_P(FailingHelper, IsNeverTheProgramsResult) {
  const Outcome native = run(ShimWorld::natively(command_));
  ASSERT_EQ(native.exit_code, 0) << describe(native);

  for (const char* free_mode : {"strict", "fast"}) {
    for (int nth = 1; nth <= 8; ++nth) {
      EXPECT_EQ(under_shim(std::to_string(nth), free_mode), native) << nth << ", " << free_mode;
      if (GetParam().may_fail_for_good) {
        EXPECT_EQ(under_shim(std::to_string(nth) + "+", free_mode), native) << nth << "+, " << free_mode;
      }
    }
  }
}

std::vector<Helper> helpers() {
  std::vector<Helper> all{{"mtia_sizes", "MTIA_SIM_FAIL", "mtiaGetDevice"},
                          {"mtia_sizes", "MTIA_SIM_FAIL", "mtiaGetDeviceProperties"}};
#ifdef TIDEMARK_TEST_CUDA
  for (const char* call : {"cuCtxGetCurrent", "cuCtxGetDevice", "cuCtxGetId", "cuCtxPushCurrent_v2", "cuEventCreate",
                           "cuDevicePrimaryCtxGetState"}) {
    all.push_back({"cuda_contexts", "CUDA_SIM_FAIL", call});
  }
  // One that fails for good leaves the thread in the context that was pushed, or is the device's own error.
  for (const char* call : {"cuCtxPopCurrent_v2", "cuCtxRecordEvent", "cuEventQuery"}) {
    all.push_back({"cuda_contexts", "CUDA_SIM_FAIL", call, false});
  }
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, FailingHelper, testing::ValuesIn(helpers()),
                         [](const auto& one) { return one.param.call; });

}  // namespace
}  // namespace tidemark::test
