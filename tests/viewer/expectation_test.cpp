// What `run --expect` takes, and what it says when it is not so.
#include "viewer/launch/expectation.hpp"

#include "tests/viewer/refusal.hpp"
#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::viewer {
namespace {

using testing::HasSubstr;

std::string refusal_of(std::string_view text) {
  return refusal_by([&] { return parse_expectation(text); });
}

std::string said_of(std::string_view text, const std::vector<ProcessView>& processes = sample_view().processes) {
  return disappointment(parse_expectation(text), processes);
}

TEST(AnExpectation, IsReadInEachForm) {
  using enum Expectation::Quantity;
  using enum Expectation::Comparison;
  const auto is = [](std::string_view text, Expectation::Quantity quantity, Expectation::Comparison comparison,
                     std::uint64_t bound) {
    const Expectation read = parse_expectation(text);
    return read.quantity == quantity && read.comparison == comparison && read.bound == bound && read.text == text;
  };
  EXPECT_TRUE(is("peak<=512MiB", Peak, AtMost, 512 << 20));
  EXPECT_TRUE(is("held_peak<8GB", HeldPeak, Less, 8'000'000'000));
  EXPECT_TRUE(is("held==0", Held, Equal, 0));
  EXPECT_TRUE(is("live>=12", Live, AtLeast, 12));
  EXPECT_TRUE(is("ooms>0", Ooms, More, 0));
  EXPECT_TRUE(is(" peak <= 1.5GiB ", Peak, AtMost, 3ULL << 29));
}

TEST(AnExpectation, IsRefusedWithWhatIsAllowed) {
  const std::string allowed =
      "; allowed: peak, held_peak or held with a size like 512, 64KiB, 1.5GiB, 8G (= GiB) or 8GB (= 10^9), live or "
      "ooms with a number, between them <=, <, ==, >= or >; for example 'peak<=512MiB'";
  EXPECT_EQ(refusal_of(""), "run: --expect '': it compares nothing" + allowed);
  EXPECT_EQ(refusal_of("peak"), "run: --expect 'peak': it compares nothing" + allowed);
  EXPECT_EQ(refusal_of("peek<=1G"), "run: --expect 'peek<=1G': no quantity 'peek'" + allowed);
  EXPECT_EQ(refusal_of("peak=1G"), "run: --expect 'peak=1G': equal is ==" + allowed);
  EXPECT_EQ(refusal_of("peak<=much"), "run: --expect 'peak<=much': 'much' is no size" + allowed);
  EXPECT_EQ(refusal_of("ooms<=1KiB"), "run: --expect 'ooms<=1KiB': '1KiB' is no number" + allowed);
  for (const char* wrong : {"<=1G", "peak<=", "peak=<1G", "peak!=1G", "peak<>1G", "peak<=-1", "peak<==1G", "live==1.5",
                            "peak<=1G<2G", "PEAK<=1G", "peak<=80%"}) {
    EXPECT_NE(refusal_of(wrong), "") << wrong;
  }
}

// The sample's peaks are 3 GiB and 300 MiB, 7 GiB, and 1 KiB.
TEST(AnExpectation, OfAPeakIsAboutTheHighest) {
  EXPECT_EQ(said_of("peak<=7GiB"), "");
  EXPECT_EQ(said_of("peak==7GiB"), "");
  EXPECT_EQ(said_of("peak>=7GiB"), "");
  EXPECT_EQ(said_of("peak<8GiB"), "");
  EXPECT_EQ(said_of("peak<7GiB"),
            "run: expected peak<7GiB, found 7.000 GiB (7516192768 B) in mtia_train (pid 4712) on mtia:0");
  EXPECT_EQ(said_of("peak>7GiB"),
            "run: expected peak>7GiB, found 7.000 GiB (7516192768 B) in mtia_train (pid 4712) on mtia:0");
  EXPECT_EQ(said_of("held_peak<1GiB"),
            "run: expected held_peak<1GiB, found 7.078 GiB (7600000000 B) in mtia_train (pid 4712) on mtia:0");
}

// 4 GiB and 302 MiB, 7.078 GiB, and 2 MiB; one block on each of four devices.
TEST(AnExpectation, OfAllElseIsAboutTheSum) {
  EXPECT_EQ(said_of("held==12213734400"), "");
  EXPECT_EQ(said_of("held<=1GiB"),
            "run: expected held<=1GiB, found 11.37 GiB (12213734400 B), 7.078 GiB (7600000000 B) of it in mtia_train "
            "(pid 4712) on mtia:0");
  EXPECT_EQ(said_of("live==4"), "");
  EXPECT_EQ(said_of("live==0"),
            "run: expected live==0, found 4, 1 of it in eval: python3 train.py (pid 4711) on cuda:0");
}

TEST(AnExpectation, OfLiveAllocationsCountsEveryKind) {
  std::vector<ProcessView> processes{sample_process({.id = "1", .pid = 7, .command = "app"},
                                                    {sample_device(segment::Backend::Cuda, 0, {.reserved = 2_MiB})})};
  EXPECT_EQ(said_of("live==0", processes), "");

  segment::ProcessSnapshot& snapshot = processes[0].snapshot;
  (*processes[0].devices[0].snapshot.kinds)[DeviceKind::Async].current_count = 2;
  snapshot.host_kinds.emplace()[HostKind::Pinned].current_count = 3;

  EXPECT_EQ(said_of("live==5", processes), "");
  EXPECT_EQ(said_of("live==0", processes), "run: expected live==0, found 5, 3 of it in app (pid 7) on the host");
}

TEST(AnExpectation, OfOutOfMemoriesCountsThem) {
  segment::DeviceSnapshot device = sample_device(segment::Backend::Cuda, 1, {});
  device.basis[BasisWord::ooms] = 2;
  const std::vector<ProcessView> processes{sample_process({.id = "1", .pid = 7, .command = "app"}, {device})};

  EXPECT_EQ(said_of("ooms<=2", processes), "");
  EXPECT_EQ(said_of("ooms==0", processes), "run: expected ooms==0, found 2 in app (pid 7) on cuda:1");
}

TEST(AnExpectation, OfNothingIsAboutZero) {
  EXPECT_EQ(said_of("peak<=1MiB", {}), "");
  EXPECT_EQ(said_of("live==0", {}), "");
  EXPECT_EQ(said_of("peak>=1MiB", {}), "run: expected peak>=1MiB, found 0 B: nothing was allocated");
  EXPECT_EQ(said_of("ooms>0", sample_view().processes), "run: expected ooms>0, found 0");
}

TEST(AnExpectation, IsToldWithoutTheTerminalsCharacters) {
  const std::vector<ProcessView> processes{
      sample_process({.id = "1", .pid = 7, .command = "a\x1b[2Jb"},
                     {sample_device(segment::Backend::Cuda, 0, {.allocated = 1_MiB, .peak = 1_MiB})})};

  EXPECT_THAT(said_of("peak==0", processes), HasSubstr("in a [2Jb (pid 7)"));
}

}  // namespace
}  // namespace tidemark::viewer
