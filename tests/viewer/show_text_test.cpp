// The text of show: the process, every counter, the other kinds, and the sum.
#include "viewer/render/show_text.hpp"

#include "shared/segment/counter_list.hpp"
#include "shared/segment/derive.hpp"
#include "tests/viewer/in_utf8_and_utc.hpp"
#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using ShowText = InUtf8AndUtc;

TEST_F(ShowText, OpensWithTheProcessAndItsLibrary) {
  View view = sample_view();
  view.processes[0].snapshot.globals.mode = segment::ProcessMode::Count;
  view.processes[0].snapshot.globals.mode_reason = "a sanitizer is loaded";
  view.processes[0].snapshot.globals.mode_realtime_ns = kSampleNow - 30 * kSampleSecond;
  view.processes[0].coverage.reset();  // coverage_text_test.cpp

  EXPECT_THAT(show_text(view.processes[0], kSampleNow, Charset::Utf8), StartsWith(R"(eval: python3 train.py
  pid 4711, id 9f3c01aa, user 1000, live, started 14:10:08 (3 min 12 s ago)
  library 0.1.0: mode count because a sanitizer is loaded, since 14:12:50, layer driver, free strict, control full, service thread on, recording off
  calls 12,345, forwarded 12; look-ups 7 (dlsym 3, the driver's resolver 4), answered with ours 5
  requests done 0, refused 0, ignored 0; errors of the library that the program never saw 0

cuda:0  Simulated CUDA device  GPU-9f3c01aa-0100-0000-0000-000000000000
  capacity 8.000 GiB, limit none, mode cache, peaks since 14:12:20

  COUNTER                                NOW       PEAK   TOTAL IN  TOTAL OUT  MEANING
)"));
}

TEST_F(ShowText, DoesNotShowCallsThatAreNotCounted) {
  View view = sample_view();
  view.processes[0].snapshot.globals.hooks.hook_calls = 0;

  EXPECT_THAT(show_text(view.processes[0], kSampleNow, Charset::Utf8),
              HasSubstr("\n  look-ups 7 (dlsym 3, the driver's resolver 4), answered with ours 5\n"));
}

// A process that ended before its first heartbeat had "look-ups 0".
TEST_F(ShowText, DoesNotShowLookUpsThatWereNotTold) {
  View view = sample_view();
  view.processes[0].snapshot.globals.heartbeat_count = 0;
  view.processes[0].snapshot.globals.hooks = {};

  EXPECT_THAT(show_text(view.processes[0], kSampleNow, Charset::Utf8),
              HasSubstr("\n  look-ups - (told with each heartbeat, and there was none yet)\n"));
  EXPECT_THAT(show_text(view.processes[3], kSampleNow, Charset::Utf8),
              HasSubstr(", answered with ours 5, by the last heartbeat\n"));
}

TEST_F(ShowText, TellsFreesThatNothingKnowsAndRefusalsByTheLimit) {
  ProcessView process = sample_view().processes[1];
  EXPECT_THAT(show_text(process, kSampleNow, Charset::Utf8), Not(HasSubstr("nothing here knows")));
  process.snapshot.globals.hooks.foreign_frees = 1234;
  DeviceBasis& basis = process.devices[0].snapshot.basis;
  basis[BasisWord::oom_time_ns] = kSampleNow - 3 * kSampleSecond;
  basis[BasisWord::oom_count_lifetime] = 5;
  basis[BasisWord::limit_rejections_lifetime] = 2;

  const std::string text = show_text(process, kSampleNow, Charset::Utf8);

  EXPECT_THAT(text, HasSubstr("\n  frees of pointers that nothing here knows 1,234: "));
  EXPECT_THAT(text, HasSubstr("\n  out of memory 5 times (2 by the limit), last 3 s ago: "));
}

TEST_F(ShowText, HasEveryCounterWithItsMeaning) {
  const std::string text = show_text(sample_view().processes[1], kSampleNow, Charset::Utf8);

  for (const segment::CounterInfo& info : segment::counter_list()) {
    const std::string key{info.key};
    const std::string name = key.substr(
        0, key.ends_with(".allocated") || key.ends_with(".current") || key.ends_with(".freed") || key.ends_with(".peak")
               ? key.rfind('.')
               : key.size());
    EXPECT_THAT(text, HasSubstr("\n  " + name + " ")) << key;
  }
  for (const segment::CounterInfo& info : segment::extra_list()) {
    EXPECT_THAT(text, HasSubstr(std::string{info.meaning})) << info.key;
  }
  EXPECT_THAT(
      text, HasSubstr("  allocated_bytes.all               1023 MiB  7.000 GiB  14.00 GiB  13.00 GiB  rounded sizes"));
  EXPECT_THAT(text, HasSubstr("  max_split_size                   unlimited"));
  EXPECT_THAT(text, HasSubstr("12.3 ms"));
}

TEST_F(ShowText, EndsInASumThatIsExact) {
  View view = sample_view();
  DeviceBasis& basis = view.processes[1].devices[0].snapshot.basis;
  basis[BasisWord::driver_total_bytes] = (8_GiB).count();
  basis[BasisWord::driver_free_bytes] = (512_MiB).count();
  basis[BasisWord::driver_info_time_ns] = kSampleNow - 3 * kSampleSecond;

  EXPECT_THAT(show_text(view.processes[1], kSampleNow, Charset::Utf8), EndsWith(R"(
  requested by the program                      1,072,693,148   1023 MiB
  + rounding                                              100    100 B
  = allocated                                   1,072,693,248   1023 MiB
  + freed, device work pending                              0      0 B
  + cached                                      6,527,306,752  6.079 GiB
  = reserved                                    7,600,000,000  7.078 GiB
  + other kinds on the device                               0      0 B
  = held                                        7,600,000,000  7.078 GiB
  + not ours                                      453,063,680  432.1 MiB
  = used, as the driver said 3 s ago            8,053,063,680  7.500 GiB
)"));
}

TEST_F(ShowText, ListsTheKindsThatWereEverUsedAndAddsThoseOnTheDevice) {
  segment::DeviceSnapshot snapshot = sample_device(segment::Backend::Cuda, 0, {.allocated = 1_GiB, .reserved = 1_GiB});
  (*snapshot.kinds)[DeviceKind::Async] = {
      .current_bytes = (3_MiB).count(), .peak_bytes = (5_MiB).count(), .current_count = 1, .total_count = 12};
  (*snapshot.kinds)[DeviceKind::Managed] = {
      .current_bytes = (7_MiB).count(), .peak_bytes = (7_MiB).count(), .current_count = 2, .total_count = 2};
  snapshot.basis[BasisWord::held_bytes] = (1027_MiB).count();
  snapshot.basis[BasisWord::held_peak_bytes] = (1029_MiB).count();
  ProcessView process = sample_process({.id = "9f3c01aa", .pid = 4711}, {snapshot});
  process.snapshot.host_kinds.emplace();
  (*process.snapshot.host_kinds)[HostKind::Pinned] = {
      .current_bytes = 4096, .peak_bytes = 8192, .current_count = 1, .total_count = 2};

  const std::string text = show_text(process, kSampleNow, Charset::Utf8);
  EXPECT_THAT(text, HasSubstr("  HOST MEMORY        NOW       PEAK  PIECES  SO FAR  MEANING\n"
                              "  pinned       4.000 KiB  8.000 KiB       1       2  allocated by the driver"));
  EXPECT_THAT(text, HasSubstr("  async        3.000 MiB  5.000 MiB       1      12  from the stream's pool"));
  EXPECT_THAT(text, HasSubstr("  managed      7.000 MiB  7.000 MiB       2       2  managed memory"));
  EXPECT_THAT(text, Not(HasSubstr("  vmm ")));
  EXPECT_THAT(text, HasSubstr(R"(
  + other kinds on the device                       3,145,728  3.000 MiB
      of it async                                   3,145,728  3.000 MiB
  = held                                        1,076,887,552  1.003 GiB
)"));
}

TEST_F(ShowText, SaysWhereNobodyCountsOtherKinds) {
  View view = sample_view();
  view.processes[1].devices[0].snapshot.kinds.reset();

  EXPECT_THAT(show_text(view.processes[1], kSampleNow, Charset::Utf8),
              HasSubstr("  + other kinds on the device             unknown: below this runtime nobody counts them\n"));
}

// Rounding was negative: a size counts as requested until its free is complete, as allocated only until it begins.
TEST_F(ShowText, AddsUpWithFreesPending) {
  segment::DeviceSnapshot snapshot = sample_device(segment::Backend::Cuda, 0, {.allocated = 1_GiB, .reserved = 4_GiB});
  snapshot.basis[BasisWord::large_live_bytes] = (256_MiB).count();
  snapshot.basis[BasisWord::large_pending_bytes] = (768_MiB).count();
  const ProcessView process = sample_process({.id = "9f3c01aa", .pid = 4711}, {snapshot});

  EXPECT_THAT(show_text(process, kSampleNow, Charset::Utf8), HasSubstr(R"(
  requested by the program                      1,073,741,724  1.000 GiB
  + rounding                                              100    100 B
  = active                                      1,073,741,824  1.000 GiB
      of it allocated                             268,435,456  256.0 MiB
      of it freed, device work pending            805,306,368  768.0 MiB
  + cached                                      3,221,225,472  3.000 GiB
  = reserved                                    4,294,967,296  4.000 GiB
)"));
}

TEST_F(ShowText, HasNoNegativeTerms) {
  View view = sample_view();
  DeviceBasis& basis = view.processes[1].devices[0].snapshot.basis;
  basis[BasisWord::driver_total_bytes] = (8_GiB).count();
  basis[BasisWord::driver_free_bytes] = (7_GiB).count();  // asked before most of it was held
  basis[BasisWord::driver_info_time_ns] = kSampleNow - 3 * kSampleSecond;

  EXPECT_THAT(show_text(view.processes[1], kSampleNow, Charset::Utf8),
              EndsWith("  + not ours                              unknown: the driver said 1.000 GiB used 3 s ago\n"));
}

TEST_F(ShowText, SaysWhenTheDriverWasNeverAsked) {
  EXPECT_THAT(show_text(sample_view().processes[1], kSampleNow, Charset::Utf8),
              EndsWith("  + not ours                              unknown: the program never asked its driver\n"));
}

TEST_F(ShowText, TakesNoControlBytesFromNames) {
  View view = sample_view();
  view.processes[1].snapshot.identity.command = "evil\x1b[2J\nname";
  view.processes[1].devices[0].snapshot.info.name = "dev\x1b]0;x\a";

  const std::string text = show_text(view.processes[1], kSampleNow, Charset::Utf8);

  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\a'), std::string::npos);
}

TEST_F(ShowText, OfAProcessWithoutDeviceSaysSo) {
  EXPECT_THAT(show_text(sample_view().processes[2], kSampleNow, Charset::Utf8), HasSubstr("no device yet"));
}

}  // namespace
}  // namespace tidemark::viewer
