// Two programs that nobody here wrote, from the distribution, on the simulated CUDA driver: numba and ffmpeg. Their
// results are those they have without the shim, and their memory is counted.
#include <gtest/gtest.h>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {
namespace {

class RealPrograms : public testing::Test {
 protected:
  // Once natively, once under the shim; keeps the segment of the second.
  void run_both(const std::vector<std::string>& command) {
    Launch launch = world_.under_shim(command);
    launch.environment["TIDEMARK_KEEP"] = "all";

    native_ = run(ShimWorld::natively(command));
    shimmed_ = run(launch);

    EXPECT_EQ(native_.exit_code, 0) << describe(native_);
    EXPECT_EQ(shimmed_, native_);
  }

  // The one device of the one process that was seen.
  [[nodiscard]] nlohmann::json only_device() const {
    const nlohmann::json page = world_.ps();
    if (page["processes"].size() != 1 || page["processes"][0]["devices"].size() != 1) {
      ADD_FAILURE() << page.dump(1);
      return nullptr;
    }
    return page["processes"][0]["devices"][0];
  }

  const ShimWorld world_;
  Outcome native_;
  Outcome shimmed_;
};

TEST_F(RealPrograms, NumbaMovesArrays) {
  const std::string script = std::string(TIDEMARK_TEST_SOURCE) + "/numba_arrays.py";
  if (run({.command = {"/usr/bin/python3", "-c", "import numba"}}).exit_code != 0) {
    GTEST_SKIP() << "numba is not installed (python3-numba)";
  }

  run_both({"/usr/bin/python3", "-B", script});

  EXPECT_EQ(native_.out, "sum 499999500000, copied back the same\n");
  const nlohmann::json device = only_device();
  // Two arrays of 8,000,000 bytes were live at once, each of its own segment.
  EXPECT_EQ(stat_of(device, "requested_bytes.all.peak"), 16'000'000u);
  EXPECT_EQ(stat_of(device, "allocation.all.allocated"), 2u);
}

TEST_F(RealPrograms, FfmpegUploadsAndDownloads) {
  if (run({.command = {"ffmpeg", "-version"}}).exit_code != 0) GTEST_SKIP() << "ffmpeg is not installed";

  run_both({"ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-f", "lavfi", "-i",
            "testsrc2=size=640x360:rate=5:duration=2", "-init_hw_device", "cuda=c:0", "-filter_hw_device", "c", "-vf",
            "format=nv12,hwupload,hwdownload,format=nv12", "-f", "md5", "-"});

  EXPECT_EQ(native_.out.rfind("MD5=", 0), 0u) << describe(native_);
  const nlohmann::json device = only_device();
  EXPECT_GT(stat_of(device, "allocation.all.allocated"), 0u);
  EXPECT_GE(stat_of(device, "requested_bytes.all.peak"), 640u * 360u * 3u / 2u);
}

}  // namespace
}  // namespace tidemark::test
