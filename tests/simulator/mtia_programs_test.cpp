// Whole programs on the simulated MTIA driver: the knobs, and what concerns several processes.
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
constexpr bool kSanitized = true;  // needs terabytes of address space
#else
constexpr bool kSanitized = false;
#endif

std::string program(const std::string& name) { return std::string{MTIA_PROGRAMS} + "/" + name; }

Outcome run(const std::string& name, const Environment& environment = {}, const std::vector<std::string>& more = {}) {
  Launch launch{.command = {program(name)}, .environment = environment};
  launch.command.insert(launch.command.end(), more.begin(), more.end());
  return tidemark::test::run(launch);
}

// mtia_hold with one block of `size`, from its first line on.
Conversation hold(const std::string& size, const Environment& environment) {
  return Conversation{Launch{.command = {program("mtia_hold"), size}, .environment = environment}};
}

class Programs : public testing::Test {
 protected:
  void TearDown() override {
    unlink(trace_.c_str());
    EXPECT_NE(access(shared_file().c_str(), F_OK), 0) << shared_file() << " is left behind";
    unlink(shared_file().c_str());
  }

  [[nodiscard]] std::string shared_name() const { return "test." + std::to_string(getpid()); }
  [[nodiscard]] std::string shared_file() const { return "/dev/shm/mtia_sim." + shared_name(); }
  [[nodiscard]] Environment sharing() const { return {{"MTIA_SIM_SHARED", shared_name()}, {"MTIA_SIM_DRAM", "10MiB"}}; }
  [[nodiscard]] std::string trace() const {
    std::ostringstream text;
    text << std::ifstream{trace_}.rdbuf();
    return text.str();
  }

  const std::string trace_ = testing::TempDir() + "mtia_trace." + std::to_string(getpid());
};

TEST_F(Programs, EndAsTheyShould) {
  for (const char* name : {"mtia_almost_full", "mtia_devices", "mtia_dlopen", "mtia_early_reuse", "mtia_errors",
                           "mtia_fork", "mtia_get_proc_address", "mtia_hold", "mtia_reset", "mtia_sizes",
                           "mtia_static_destructors", "mtia_streams", "mtia_threads", "mtia_wrong_frees"}) {
    const Outcome outcome = run(name, {{"LD_LIBRARY_PATH", MTIA_LIBRARY}});
    EXPECT_EQ(outcome.exit_code, 0) << name << '\n' << tidemark::test::describe(outcome);
    EXPECT_THAT(outcome.err, IsEmpty()) << name;
  }
  EXPECT_EQ(run("mtia_exit_holding").exit_code, 7);
}

TEST_F(Programs, InPythonAreServedToo) {
  if (kSanitized) GTEST_SKIP() << "an uninstrumented python cannot load a sanitized driver";
  const Outcome outcome = tidemark::test::run({.command = {"/usr/bin/python3", "-B", program("mtia_ctypes.py")},
                                               .environment = {{"LD_LIBRARY_PATH", MTIA_LIBRARY}}});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the byte is 7"));
  EXPECT_THAT(outcome.out, HasSubstr("second free: MTIA_ERROR_INVALID_VALUE"));
}

TEST_F(Programs, InAForkedChildHaveADeviceOfTheirOwn) {
  const std::string out = run("mtia_fork").out;

  EXPECT_THAT(out, HasSubstr("child: the device is 0"));
  EXPECT_THAT(out, HasSubstr("child: free of the parent's block: MTIA_ERROR_INVALID_VALUE"));
  EXPECT_THAT(out, HasSubstr("child: its block is its own"));
  EXPECT_THAT(out, HasSubstr("the byte is 7"));
}

TEST_F(Programs, FillADeviceToTheLastByte) {
  const std::string out = run("mtia_almost_full").out;

  EXPECT_THAT(out, HasSubstr("32 of 32 blocks of 524288 bytes\none byte more: MTIA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(out, HasSubstr("14 of 14 blocks of 524288 bytes\none byte more: MTIA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(out, HasSubstr("all in one: MTIA_SUCCESS"));
}

TEST_F(Programs, StillHaveADriverAfterTheirStaticObjects) {
  const std::string out = run("mtia_static_destructors", sharing()).out;

  EXPECT_THAT(out, HasSubstr("early goes\nfree: MTIA_SUCCESS\nfree: MTIA_SUCCESS\nmalloc: MTIA_SUCCESS"));
}

TEST_F(Programs, SeeTheNumberAndSizeOfDevices) {
  const std::string out = run("mtia_devices", {{"MTIA_SIM_DEVICES", "5"}}).out;

  EXPECT_THAT(out, HasSubstr("5 devices"));
  EXPECT_THAT(out, HasSubstr("device 4 has 4 from the one before"));
}

TEST_F(Programs, AreToldThatThereIsNoDevice) {
  const Outcome outcome = run("mtia_sizes", {{"MTIA_SIM_DEVICES", "0"}});

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "malloc 1: MTIA_ERROR_NO_DEVICE\n");
}

TEST_F(Programs, MeetFaultsWhereTheyAreAskedFor) {
  const std::string out = run("mtia_sizes", {{"MTIA_SIM_FAIL", "mtiaFree:2,mtiaFree:4=9,mtiaMalloc:14+"}}).out;

  EXPECT_THAT(out, HasSubstr("free 1: MTIA_SUCCESS\nfree 513: MTIA_ERROR_UNKNOWN\nfree 4096: MTIA_SUCCESS\n"
                             "free 524288: MTIA_ERROR_DEINITIALIZED\nfree 1048577: MTIA_SUCCESS\n"));
  EXPECT_THAT(out, HasSubstr("malloc again 1: MTIA_SUCCESS\nmalloc again 513: MTIA_ERROR_OUT_OF_MEMORY\n"
                             "malloc again 4096: MTIA_ERROR_OUT_OF_MEMORY\n"));
}

TEST_F(Programs, LeaveATraceOfTheirCalls) {
  run("mtia_hold", {{"MTIA_SIM_TRACE", trace_}}, {"1000"});
  run("mtia_get_proc_address", {{"MTIA_SIM_TRACE", trace_}});

  EXPECT_THAT(trace(), testing::ContainsRegex("1 [0-9]+ [0-9]+ mtiaMalloc size=1000 ptr=0x[0-9a-f]+ = 0\n"
                                              "2 [0-9]+ [0-9]+ mtiaFree ptr=0x[0-9a-f]+ = 0\n"));
  EXPECT_THAT(trace(), HasSubstr("mtiaMalloc size=100000"));
}

TEST_F(Programs, AreWarnedOfABadValueAndRunOn) {
  const Outcome outcome = run("mtia_hold", {{"MTIA_SIM_DRAM", "plenty"}, {"MTIA_SIM_COLOUR", "red"}});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("MTIA_SIM_DRAM=plenty is not a size"));
  EXPECT_THAT(outcome.err, HasSubstr("no setting MTIA_SIM_COLOUR"));
}

TEST_F(Programs, ShareACardIfTheyAskForIt) {
  Conversation first = hold("6291456", sharing());
  EXPECT_EQ(first.read_line(), "malloc 6291456: MTIA_SUCCESS");
  EXPECT_EQ(run("mtia_hold", sharing(), {"4194305"}).out, "malloc 4194305: MTIA_ERROR_OUT_OF_MEMORY\n");
  EXPECT_EQ(run("mtia_hold", sharing(), {"4194304"}).exit_code, 0);

  EXPECT_EQ(first.finish().exit_code, 0);
  EXPECT_EQ(run("mtia_hold", sharing(), {"10485760"}).exit_code, 0);
}

TEST_F(Programs, DoNotKeepTheirShareOfACardWhenTheyAreKilled) {
  Conversation killed = hold("10485760", sharing());
  EXPECT_EQ(killed.read_line(), "malloc 10485760: MTIA_SUCCESS");
  EXPECT_EQ(killed.read_line(), "holding");
  killed.end_by(SIGKILL);

  EXPECT_EQ(run("mtia_hold", sharing(), {"10485760"}).exit_code, 0);
}

TEST_F(Programs, DoNotKeepTheirShareOfACardWhenTheyExitWithIt) {
  EXPECT_EQ(run("mtia_exit_holding", sharing()).exit_code, 7);
}

TEST_F(Programs, RunWithoutSharingIfTheCardCannotBeShared) {
  std::ofstream{shared_file()} << "something else";
  const Outcome outcome = run("mtia_hold", sharing());
  unlink(shared_file().c_str());

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("capacity is not shared: " + shared_file()));
}

TEST_F(Programs, AreToldThatMemoryIsOutWhereAddressSpaceIs) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs its address space";
  const auto limited = [](const char* limit, const char* sizes) {
    const std::string line = std::string{"ulimit -v "} + limit + "; exec " + program("mtia_hold") + " " + sizes;
    return tidemark::test::run({.command = {"bash", "-c", line}});
  };

  EXPECT_EQ(limited("400000", "1000 3145728 67108864").exit_code, 0);
  const Outcome outcome = limited("400000", "1000 1073741824");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "malloc 1000: MTIA_SUCCESS\nmalloc 1073741824: MTIA_ERROR_OUT_OF_MEMORY\n");
  // Too little for a chunk of the usual size.
  EXPECT_EQ(limited("60000", "1000 3145728").exit_code, 0);
}

TEST_F(Programs, TrainToTheSameResultEveryTime) {
  const auto train = [](const std::string& seed) {
    return tidemark::test::run(
        {.command = {MTIA_TRAIN, "--steps", "20", "--seconds", "0", "--scale", "0.1", "--seed", seed}});
  };
  const Outcome first = train("1");

  EXPECT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.out, HasSubstr("done: 20 steps"));
  EXPECT_THAT(first.out, HasSubstr("evaluate"));
  EXPECT_EQ(train("1"), first);
  EXPECT_THAT(train("2").out, Not(testing::Eq(first.out)));
}

TEST_F(Programs, TrainUntilMemoryIsOutAndSaySo) {
  const Outcome outcome = tidemark::test::run(
      {.command = {MTIA_TRAIN, "--seconds", "0", "--scale", "0.1"}, .environment = {{"MTIA_SIM_DRAM", "15MiB"}}});

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, testing::MatchesRegex("mtia_train: cannot allocate [0-9]+ bytes: out of memory\n"));
}

}  // namespace
