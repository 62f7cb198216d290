// Whole programs on the simulated CUDA: the settings, the ways into the driver, and what concerns several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/support/run_program.hpp"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tidemark::test::Conversation;
using tidemark::test::Launch;
using tidemark::test::Outcome;
using Environment = std::map<std::string, std::string>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

std::string program(const std::string& name) { return std::string{CUDA_PROGRAMS} + "/" + name; }

// Under a sanitizer the runtime's own search path is not looked at: its dlopen is the sanitizer's.
const Environment kLibraries{{"LD_LIBRARY_PATH", CUDA_LIBRARIES}};

Outcome run(const std::string& name, Environment environment = {}, const std::vector<std::string>& more = {}) {
  environment.insert(kLibraries.begin(), kLibraries.end());
  Launch launch{.command = {program(name)}, .environment = std::move(environment)};
  launch.command.insert(launch.command.end(), more.begin(), more.end());
  return tidemark::test::run(launch);
}

class CudaPrograms : public testing::Test {
 protected:
  void TearDown() override {
    unlink(trace_.c_str());
    EXPECT_NE(access(shared_file().c_str(), F_OK), 0) << shared_file() << " is left behind";
    unlink(shared_file().c_str());
  }

  [[nodiscard]] std::string shared_name() const { return "test." + std::to_string(getpid()); }
  [[nodiscard]] std::string shared_file() const { return "/dev/shm/cuda_sim." + shared_name(); }
  [[nodiscard]] Environment sharing() const {
    return {{"CUDA_SIM_SHARED", shared_name()}, {"CUDA_SIM_MEMORY", "10MiB"}, {"LD_LIBRARY_PATH", CUDA_LIBRARIES}};
  }
  [[nodiscard]] std::string trace() const {
    std::ostringstream text;
    text << std::ifstream{trace_}.rdbuf();
    return text.str();
  }

  const std::string trace_ = testing::TempDir() + "cuda_trace." + std::to_string(getpid());
};

TEST_F(CudaPrograms, EndAsTheyShould) {
  for (const char* name : {"cuda_almost_full",
                           "cuda_async_frees",
                           "cuda_bare_sizes",
                           "cuda_bare_wrong_frees",
                           "cuda_capture",
                           "cuda_capture_forms",
                           "cuda_dlopen",
                           "cuda_driver_sizes",
                           "cuda_early_reuse",
                           "cuda_exec",
                           "cuda_fork",
                           "cuda_green",
                           "cuda_hold",
                           "cuda_ipc",
                           "cuda_null",
                           "cuda_plugin_host",
                           "cuda_pointers",
                           "cuda_reset",
                           "cuda_resolver",
                           "cuda_sizes",
                           "cuda_static_destructors",
                           "cuda_static_sizes",
                           "cuda_static_wrong_frees",
                           "cuda_streams",
                           "cuda_threads",
                           "cuda_two_runtimes",
                           "cuda_wrapped",
                           "cuda_wrong_frees"}) {
    const Outcome outcome = run(name);
    EXPECT_EQ(outcome.exit_code, 0) << name << '\n' << tidemark::test::describe(outcome);
    EXPECT_THAT(outcome.err, IsEmpty()) << name;
    EXPECT_EQ(run(name), outcome) << name << " has another output every time";
  }
}

TEST_F(CudaPrograms, FindTheDriverBesideTheirRuntime) {
  if (kSanitized) GTEST_SKIP() << "its dlopen is the sanitizer's";
  EXPECT_EQ(tidemark::test::run({.command = {program("cuda_sizes")}}), run("cuda_sizes"));
}

TEST_F(CudaPrograms, SeeTheSameWhateverRuntimeTheyAreOn) {
  for (const char* topic : {"sizes", "wrong_frees", "exit_holding"}) {
    const Outcome shared = run(std::string{"cuda_"} + topic);
    EXPECT_EQ(run(std::string{"cuda_static_"} + topic), shared) << topic;
    EXPECT_EQ(run(std::string{"cuda_bare_"} + topic), shared) << topic;
  }
}

TEST_F(CudaPrograms, EndInEveryWayWithMemoryInUse) {
  for (const char* way : {"return", "exit", "quick_exit", "_exit"}) {
    EXPECT_EQ(run("cuda_exit_holding", sharing(), {way}).exit_code, 7) << way;
    unlink(shared_file().c_str());  // those that run no handler leave it for the next one to tidy
  }
  EXPECT_EQ(run("cuda_exit_holding", {}, {"abort"}).signal, SIGABRT);
  EXPECT_EQ(run("cuda_exit_holding", {}, {"kill"}).signal, SIGKILL);
}

TEST_F(CudaPrograms, BeginWithNothingAfterAnExec) {
  const std::string out = run("cuda_exec", {}, {"replace"}).out;

  EXPECT_THAT(out, testing::StartsWith("replace\nmalloc: cudaSuccess"));
  EXPECT_THAT(out, testing::EndsWith("child\nmalloc: cudaSuccess\nmemset: cudaSuccess\nmemcpy: cudaSuccess\n"
                                     "the byte is 2\nfree: cudaSuccess\n"));
}

TEST_F(CudaPrograms, FillADeviceToTheLastByte) {
  const std::string out = run("cuda_almost_full", {}, {"stream-ordered"}).out;

  EXPECT_THAT(out, HasSubstr("32 of 32 blocks of 524288 bytes\none byte more: cudaErrorMemoryAllocation"));
  EXPECT_THAT(out, HasSubstr("16 of 16 blocks of 524288 bytes\none byte more: cudaErrorMemoryAllocation"));
  EXPECT_THAT(out,
              HasSubstr("in stream order: cudaSuccess\nfree in stream order: cudaSuccess\nall in one: cudaSuccess"));
}

TEST_F(CudaPrograms, InPythonAreServedToo) {
  if (kSanitized) GTEST_SKIP() << "an uninstrumented python cannot load a sanitized driver";
  for (const char* script : {"cuda_ctypes.py", "cuda_driver_ctypes.py"}) {
    const Outcome outcome =
        tidemark::test::run({.command = {"/usr/bin/python3", "-B", program(script)}, .environment = kLibraries});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("the byte is 7"));
    EXPECT_THAT(outcome.out, testing::AnyOf(HasSubstr("second free: CUDA_ERROR_INVALID_VALUE"),
                                            HasSubstr("second free: cudaErrorInvalidValue")));
  }
}

TEST_F(CudaPrograms, OfNumbaAreServedToo) {
  if (kSanitized) GTEST_SKIP() << "an uninstrumented python cannot load a sanitized driver";
  const Outcome outcome =
      tidemark::test::run({.command = {"/usr/bin/python3", "-B", program("cuda_numba.py")}, .environment = kLibraries});
  if (outcome.out == "numba is not installed\n") GTEST_SKIP() << outcome.out;

  EXPECT_EQ(outcome.exit_code, 0) << tidemark::test::describe(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("sum 499999500000\n"));
  EXPECT_THAT(outcome.out, HasSubstr("small 47500\n"));
  EXPECT_THAT(outcome.out, HasSubstr("the same through a stream: True"));
  EXPECT_THAT(outcome.out, HasSubstr("managed 15.0\n"));
  EXPECT_THAT(outcome.out, testing::EndsWith("closed\n"));
}

TEST_F(CudaPrograms, WorkInAForkedChildIfTheParentHadNotBegun) {
  const std::string out = run("cuda_fork").out;

  EXPECT_THAT(out, HasSubstr("forked before\nchild: malloc: cudaSuccess"));
  EXPECT_THAT(out, HasSubstr("forked after\nchild: malloc: cudaErrorInitializationError"));
  EXPECT_THAT(out, HasSubstr("the byte is 7"));
}

TEST_F(CudaPrograms, ShareMemoryWithOtherProcesses) {
  for (const char* size : {"1000", "3145728"}) {
    const std::string out = run("cuda_ipc", {}, {size}).out;

    EXPECT_THAT(out, HasSubstr("open in the same process: cudaErrorDeviceUninitialized"));
    EXPECT_THAT(out, HasSubstr("importer: the last byte is 7"));
    EXPECT_THAT(out, HasSubstr("importer: free: cudaErrorInvalidValue"));
    EXPECT_THAT(out, HasSubstr("importer: close once more: cudaErrorInvalidValue"));
    EXPECT_THAT(out, HasSubstr("the first byte is 42"));
  }
}

TEST_F(CudaPrograms, SeeTheDevicesThatAreVisible) {
  const auto count = [](const Environment& environment) {
    std::string out = run("cuda_devices", environment).out;
    return out.substr(0, out.find('\n'));
  };
  EXPECT_EQ(count({}), "2 devices: 0 1");
  EXPECT_EQ(count({{"CUDA_SIM_DEVICES", "3"}}), "3 devices: 0 1 2");
  EXPECT_EQ(count({{"CUDA_VISIBLE_DEVICES", "1"}}), "1 devices: 1");
  EXPECT_EQ(count({{"CUDA_VISIBLE_DEVICES", "1, 0"}}), "2 devices: 1 0");
  EXPECT_EQ(count({{"CUDA_VISIBLE_DEVICES", "1,7,0"}}), "1 devices: 1");
  EXPECT_EQ(count({{"CUDA_VISIBLE_DEVICES", "0,0"}}), "no devices: cudaErrorNoDevice");
  EXPECT_EQ(count({{"CUDA_VISIBLE_DEVICES", ""}}), "no devices: cudaErrorNoDevice");
  EXPECT_EQ(count({{"CUDA_VISIBLE_DEVICES", "-1"}}), "no devices: cudaErrorNoDevice");
  EXPECT_EQ(count({{"CUDA_SIM_DEVICES", "0"}}), "no devices: cudaErrorNoDevice");
}

TEST_F(CudaPrograms, NameVisibleDevicesByUuid) {
  const std::string all = run("cuda_devices").out;
  const std::string uuid = all.substr(all.rfind("GPU-"), 40);

  const std::string whole = run("cuda_devices", {{"CUDA_VISIBLE_DEVICES", uuid}}).out;

  EXPECT_THAT(whole, testing::StartsWith("1 devices: 1\n"));
  EXPECT_THAT(whole, HasSubstr(uuid));
  EXPECT_THAT(run("cuda_devices", {{"CUDA_VISIBLE_DEVICES", "GPU-"}}).out, testing::StartsWith("no devices"))
      << "a prefix of several devices is none";
}

TEST_F(CudaPrograms, MeetAnOlderDriver) {
  const std::string by_version = run("cuda_resolver", {{"CUDA_SIM_DRIVER_VERSION", "12000"}}).out;

  EXPECT_THAT(by_version, HasSubstr("cuMemAlloc@3020/0: 0, status 0, found"));
  EXPECT_THAT(run("cuda_hold", {{"CUDA_SIM_DRIVER_VERSION", "11080"}}).out,
              HasSubstr("malloc 1000: cudaErrorInsufficientDriver"));
}

TEST_F(CudaPrograms, MeetFaultsWhereTheyAreAskedFor) {
  const std::string out = run("cuda_sizes", {{"CUDA_SIM_FAIL", "cuMemFree:2,cuMemFree_v2:4=4,cuMemAlloc:13+"}}).out;

  EXPECT_THAT(out, HasSubstr("free 1: cudaSuccess\nfree 513: cudaErrorInvalidValue\nfree 65536: cudaSuccess\n"
                             "free 1048576: cudaErrorCudartUnloading\nfree 2097152: cudaSuccess\n"));
  EXPECT_THAT(out, HasSubstr("malloc again 1: cudaSuccess\nmalloc again 513: cudaErrorMemoryAllocation\n"
                             "malloc again 65536: cudaErrorMemoryAllocation\n"));
}

TEST_F(CudaPrograms, LeaveATraceOfTheirCalls) {
  run("cuda_hold", {{"CUDA_SIM_TRACE", trace_}}, {"1000"});

  EXPECT_THAT(trace(),
              testing::ContainsRegex("[0-9]+ [0-9]+ [0-9]+ cuMemAlloc_v2 size=1000 address=0x[0-9a-f]+ = 0\n"));
  EXPECT_THAT(trace(), testing::ContainsRegex("[0-9]+ [0-9]+ [0-9]+ cuMemFree_v2 address=0x[0-9a-f]+ = 0\n"));
}

TEST_F(CudaPrograms, AreWarnedOfABadValueAndRunOn) {
  const Outcome outcome = run("cuda_hold", {{"CUDA_SIM_MEMORY", "plenty"},
                                            {"CUDA_SIM_COLOUR", "red"},
                                            {"CUDA_SIM_DRIVER_VERSION", "old"},
                                            {"CUDA_SIM_KERNEL_TICKS", "5"}});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("CUDA_SIM_MEMORY=plenty is not a size"));
  EXPECT_THAT(outcome.err, HasSubstr("no setting CUDA_SIM_COLOUR"));
  EXPECT_THAT(outcome.err, HasSubstr("CUDA_SIM_DRIVER_VERSION=old is not a number"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("KERNEL_TICKS")));
}

TEST_F(CudaPrograms, ShareACardIfTheyAskForIt) {
  Conversation first{Launch{.command = {program("cuda_hold"), "6291456"}, .environment = sharing()}};
  EXPECT_EQ(first.read_line(), "malloc 6291456: cudaSuccess");
  EXPECT_EQ(run("cuda_hold", sharing(), {"4194305"}).out, "malloc 4194305: cudaErrorMemoryAllocation\n");
  EXPECT_EQ(run("cuda_hold", sharing(), {"4194304"}).exit_code, 0);

  EXPECT_EQ(first.finish().exit_code, 0);
  EXPECT_EQ(run("cuda_hold", sharing(), {"10485760"}).exit_code, 0);
}

Outcome churn(std::vector<std::string> arguments, Environment environment = {}) {
  arguments.insert(arguments.begin(), CUDA_CHURN);
  environment.insert(kLibraries.begin(), kLibraries.end());
  return tidemark::test::run({.command = std::move(arguments), .environment = std::move(environment)});
}

TEST_F(CudaPrograms, ChurnToTheSameResultEveryTime) {
  const Outcome first = churn({"--iterations", "2000", "--threads", "2"});

  EXPECT_EQ(first.exit_code, 0) << tidemark::test::describe(first);
  EXPECT_THAT(first.out, HasSubstr("iteration     2000"));
  EXPECT_THAT(first.out, HasSubstr("done: 4000 iterations"));
  EXPECT_EQ(churn({"--iterations", "2000", "--threads", "2"}), first);
  EXPECT_EQ(churn({"--seconds", "0"}), churn({"--seconds", "0"}));
  EXPECT_EQ(churn({"--seconds"}).exit_code, 2);
}

TEST_F(CudaPrograms, ChurnUntilMemoryIsOutAndSaySo) {
  const Outcome outcome = churn({"--seconds", "0"}, {{"CUDA_SIM_MEMORY", "4MiB"}});

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "cuda_churn: cudaMalloc: cudaErrorMemoryAllocation\n");
}

TEST_F(CudaPrograms, OfFfmpegAreServedToo) {
  if (kSanitized) GTEST_SKIP() << "an uninstrumented ffmpeg cannot load a sanitized driver";
  if (tidemark::test::run({.command = {"ffmpeg", "-version"}}).exit_code != 0) {
    GTEST_SKIP() << "ffmpeg is not installed";
  }
  const auto digest = [](const std::vector<std::string>& device, const std::string& filter) {
    std::vector<std::string> command{"ffmpeg", "-hide_banner", "-loglevel",
                                     "error",  "-nostdin",     "-f",
                                     "lavfi",  "-i",           "testsrc2=size=320x240:rate=5:duration=2"};
    command.insert(command.end(), device.begin(), device.end());
    command.insert(command.end(), {"-vf", filter, "-f", "md5", "-"});
    return tidemark::test::run({.command = command, .environment = kLibraries});
  };

  const Outcome over_device =
      digest({"-init_hw_device", "cuda=c:0", "-filter_hw_device", "c"}, "format=nv12,hwupload,hwdownload,format=nv12");

  EXPECT_THAT(over_device.out, testing::StartsWith("MD5=")) << tidemark::test::describe(over_device);
  EXPECT_EQ(over_device, digest({}, "format=nv12"));
}

}  // namespace
