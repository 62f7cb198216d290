// Where the library is off (TIDEMARK_MODE=off, TIDEMARK_SKIP) its hooks only forward: the driver sees the very calls
// that it sees without us, in the same order.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

// Of the simulated driver's trace (tick, pid, thread, function, arguments, "=", result) what is the same in every run.
std::vector<std::string> calls_in(const std::string& path) {
  std::vector<std::string> calls;
  std::ifstream trace{path};
  for (std::string line; std::getline(trace, line);) {
    std::istringstream words{line};
    std::string skipped;
    std::string function;
    words >> skipped >> skipped >> skipped >> function;
    calls.push_back(function + line.substr(line.rfind(" = ")));
  }
  return calls;
}

class Off : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::vector<std::string> calls_of(Launch launch, const std::string& name) const {
    const std::string path = world_.directory() + "/" + name;
    launch.environment["CUDA_SIM_TRACE"] = path;
    launch.environment["MTIA_SIM_TRACE"] = path;
    EXPECT_EQ(run(launch).signal, 0);
    return calls_in(path);
  }

  const ShimWorld world_;
  const std::vector<std::string> command_{std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/" + GetParam()};
};

std::vector<std::string> programs() {
  std::vector<std::string> names{"mtia_almost_full", "mtia_devices", "mtia_get_proc_address", "mtia_reset"};
#ifdef TIDEMARK_TEST_CUDA
  for (const char* name :
       {"cuda_almost_full", "cuda_bare_sizes", "cuda_capture", "cuda_devices", "cuda_dlopen", "cuda_ipc", "cuda_null",
        "cuda_reset", "cuda_resolver", "cuda_thread_state", "cuda_two_runtimes"}) {
    names.emplace_back(name);
  }
#endif
  return names;
}

INSTANTIATE_TEST_SUITE_P(In, Off, testing::ValuesIn(programs()), [](const auto& one) { return one.param; });

TEST_P(Off, MakesNoDriverCallOfItsOwn) {
  const std::vector<std::string> alone = calls_of(ShimWorld::natively(command_), "alone");
  ASSERT_FALSE(alone.empty());
  Launch off = world_.under_shim(command_);
  off.environment["TIDEMARK_MODE"] = "off";
  Launch skipped = world_.under_shim(command_);
  skipped.environment["TIDEMARK_SKIP"] = "bash," + GetParam();

  EXPECT_EQ(calls_of(off, "off"), alone);
  EXPECT_EQ(calls_of(skipped, "skipped"), alone);
}

}  // namespace
}  // namespace tidemark::test
