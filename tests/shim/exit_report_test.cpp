#include "shim/runtime/exit_report.hpp"
#include "shim/runtime/size_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace tidemark::runtime {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kSecond = 1'000'000'000;

std::string report_of(const ProcessAtExit& process, const std::vector<DeviceAtExit>& devices) {
  std::array<char, 2048> text{};
  return {text.data(), exit_report(process, devices, text)};
}

std::string line_of(const std::string& report, int number) {
  std::size_t at = 0;
  for (int i = 0; i < number; ++i) {
    at = report.find('\n', at) + 1;
  }
  return report.substr(at, report.find('\n', at) - at);
}

DeviceAtExit sample(const char* name = "cuda:0") {
  DeviceAtExit device{.peak_allocated = 640 * kMiB,
                      .peak_held = 704 * kMiB,
                      .left_bytes = 3 * kMiB,
                      .left_blocks = 2,
                      .allocations = 1000,
                      .hits = 982,
                      .driver_calls = 18,
                      .driver_ns = 1'500'000,
                      .free_wait_ns = 2'000'000};
  std::snprintf(device.name, sizeof device.name, "%s", name);
  return device;
}

ProcessAtExit process() {
  return {.command = "./train ...", .pid = 4711, .lived_ns = 10 * kSecond, .waits_in_frees = true};
}

TEST(ExitReport, SaysWhatWasNeededWhatWasSavedAndWhatToDoNext) {
  EXPECT_EQ(report_of(process(), {sample()}),
            "tidemark: cuda:0 peak 640.0 MiB allocated, 704.0 MiB held; 3.000 MiB left at exit (2 blocks)\n"
            "tidemark: 98.2 % of 1000 allocations from the cache, 18 driver calls in 1.50 ms; frees waited 2.00 ms for "
            "the device\n"
            "tidemark: next: tidemark run --record --keep all -- ./train ..., then tidemark report PID (who holds what "
            "is left)\n");
}

TEST(ExitReport, IsNothingWithoutADevice) { EXPECT_EQ(report_of(process(), {}), ""); }

TEST(ExitReport, NamesTheSettingThatSavesWhatWaitingCost) {
  DeviceAtExit device = sample();
  device.free_wait_ns = kSecond;
  ProcessAtExit fast = process();
  fast.waits_in_frees = false;

  EXPECT_NE(line_of(report_of(process(), {device}), 1).find("waited 1.00 s for the device (TIDEMARK_FREE=fast"),
            std::string::npos);
  EXPECT_EQ(report_of(fast, {device}).find("TIDEMARK_FREE"), std::string::npos);
}

TEST(ExitReport, NamesTheSettingThatSavesDriverCalls) {
  DeviceAtExit device = sample();
  device.driver_ns = kSecond;
  ProcessAtExit splitting = process();
  splitting.splits = true;

  EXPECT_NE(report_of(process(), {device}).find("(TIDEMARK_ALLOC_CONF=large:split"), std::string::npos);
  EXPECT_NE(report_of(splitting, {device}).find("(TIDEMARK_ALLOC_CONF=max_idle_s:60"), std::string::npos);
}

TEST(ExitReport, ClaimsNoCacheWhereNothingIsCached) {
  ProcessAtExit counting = process();
  counting.is_counting = true;

  EXPECT_EQ(line_of(report_of(counting, {sample()}), 1),
            "tidemark: only counted, nothing cached: 1000 allocations; frees waited 2.00 ms for the device");
}

TEST(ExitReport, TellsAfterAnOutOfMemoryHowToSeeTheNextOne) {
  DeviceAtExit device = sample();
  device.ooms = 1;
  ProcessAtExit prepared = process();
  prepared.oom_snapshots = "/tmp/%p.tmsnap";

  EXPECT_EQ(line_of(report_of(process(), {device}), 2),
            "tidemark: next: tidemark run --record --snapshot-on-oom '/tmp/%e-%p-%n.tmsnap' -- ./train ... (what was "
            "where when memory ran out)");
  EXPECT_EQ(line_of(report_of(prepared, {device}), 2),
            "tidemark: next: tidemark report FILE, of /tmp/%p.tmsnap (what was where when memory ran out)");
}

TEST(ExitReport, NamesWhatIsThereToBeRead) {
  ProcessAtExit kept = process();
  kept.is_kept = true;
  kept.is_recorded = true;

  EXPECT_EQ(line_of(report_of(kept, {sample()}), 2), "tidemark: next: tidemark report 4711 (who held it, over time)");
}

TEST(ExitReport, NamesTheThreeDevicesThatNeededMost) {
  std::vector<DeviceAtExit> devices;
  for (int i = 0; i < 8; ++i) {
    devices.push_back(sample(("cuda:" + std::to_string(i)).c_str()));
    devices.back().peak_held = (i % 4 == 1 ? 900 : 100) * kMiB;
    devices.back().left_bytes = 0;
  }

  const std::string line = line_of(report_of(process(), devices), 0);

  EXPECT_EQ(
      line,
      "tidemark: cuda:0 peak 640.0 MiB allocated, 100.0 MiB held; nothing left at exit | cuda:1 peak 640.0 MiB "
      "allocated, 900.0 MiB held; nothing left at exit | cuda:5 peak 640.0 MiB allocated, 900.0 MiB held; nothing "
      "left at exit | and 5 more");
}

TEST(ExitReport, TellsWhatIsLeftOfMemoryThatIsNotCached) {
  DeviceBasis basis{};
  basis[BasisWord::held_bytes] = 5 * kMiB;
  basis[BasisWord::lifetime_peak_held_bytes] = 5 * kMiB;

  const DeviceAtExit device = at_exit("cuda", 1, basis);

  EXPECT_EQ(device.left_bytes, 5 * kMiB);
  EXPECT_EQ(line_of(report_of(process(), {device}), 0),
            "tidemark: cuda:1 peak 0 B allocated, 5.000 MiB held; 5.000 MiB left at exit");
}

TEST(SizeWords, HaveFourDigits) {
  EXPECT_STREQ(SizeWords{0}.text(), "0 B");
  EXPECT_STREQ(SizeWords{1023}.text(), "1023 B");
  EXPECT_STREQ(SizeWords{1024}.text(), "1.000 KiB");
  EXPECT_STREQ(SizeWords{12'345'678}.text(), "11.77 MiB");
  EXPECT_STREQ(SizeWords{704'315'597}.text(), "671.7 MiB");
  EXPECT_STREQ(SizeWords{1023 * kMiB}.text(), "1023 MiB");
  EXPECT_STREQ(SizeWords{UINT64_MAX}.text(), "16384 PiB");
}

TEST(TimeWords, HaveThreeDigits) {
  EXPECT_STREQ(TimeWords{0}.text(), "0.00 us");
  EXPECT_STREQ(TimeWords{12'300'000}.text(), "12.3 ms");
  EXPECT_STREQ(TimeWords{4'560'000'000}.text(), "4.56 s");
  EXPECT_STREQ(TimeWords{123'000'000'000}.text(), "123 s");
}

TEST(ExitReport, IsCutWhereThereIsNoRoom) {
  std::array<char, 40> text{};

  const std::size_t length = exit_report(process(), std::array{sample()}, text);

  EXPECT_EQ(length, text.size() - 1);
  EXPECT_EQ(std::string(text.data(), 20), "tidemark: cuda:0 pea");
}

}  // namespace
}  // namespace tidemark::runtime
