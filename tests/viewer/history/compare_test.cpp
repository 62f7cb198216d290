// What two snapshots differ in, what grows, and how that is told.
#include "viewer/history/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

#include "tests/viewer/history/sample_memory.hpp"
#include "viewer/history/compare_text.hpp"
#include "viewer/history/growth_text.hpp"
#include "viewer/history/json_reader.hpp"

namespace tidemark::viewer {
namespace {

using nlohmann::json;
using test::kSampleMiB;
using test::SampleMemory;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

MemorySnapshot of_device(const SampleMemory& memory) {
  MemorySnapshot snapshot;
  snapshot.recording.kind = history::Kind::Snapshot;
  snapshot.recording.enabled = history::Enabled::State;
  snapshot.recording.taken_ns = memory.now_ns();
  snapshot.devices.push_back(memory.device());
  snapshot.stacks = test::sample_stacks();
  return snapshot;
}

TEST(Compare, TellsGainsAndLossesByStack) {
  SampleMemory memory;
  memory.add_segment(4 * kSampleMiB, false);
  const std::uint64_t loaded = memory.allocate(2000, 1);
  memory.allocate(1000, 2);
  const MemorySnapshot before = of_device(memory);
  memory.free(loaded);
  memory.allocate(5000, 2);

  const std::vector<DeviceChange> changes = compare(before, of_device(memory));

  ASSERT_THAT(changes, SizeIs(1));
  ASSERT_THAT(changes[0].stacks, SizeIs(2));
  EXPECT_EQ(changes[0].stacks[0].frames[0].name, "forward(int)");
  EXPECT_EQ(changes[0].stacks[0].bytes(), 5120);
  EXPECT_EQ(changes[0].stacks[0].blocks(), 1);
  EXPECT_EQ(changes[0].stacks[1].bytes(), -2048);
  EXPECT_EQ(changes[0].before.bytes, 3072U);
  EXPECT_EQ(changes[0].after.bytes, 6144U);
}

TEST(Compare, FindsNothingWhereNothingChanged) {
  const MemorySnapshot snapshot = test::sample_snapshot();

  const std::vector<DeviceChange> changes = compare(snapshot, snapshot);

  EXPECT_THAT(changes[0].stacks, IsEmpty());
  EXPECT_THAT(changes[0].sizes, IsEmpty());
  EXPECT_EQ(compare_text(changes, By::Stack, Charset::Utf8, 10),
            "cuda:0  held 4.001 MiB -> 4.001 MiB (0 B, 0 blocks)\n"
            "  by stack: the same\n");
}

TEST(Compare, TakesADeviceThatIsNewForOneThatHeldNothing) {
  SampleMemory memory{segment::Backend::Mtia, 1};
  memory.add_segment(2 * kSampleMiB, false);
  memory.allocate(1024);

  const std::vector<DeviceChange> changes = compare(MemorySnapshot{}, of_device(memory));

  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].device, "mtia:1");
  EXPECT_EQ(changes[0].before.blocks, 0U);
  EXPECT_EQ(changes[0].after.bytes, 1024U);
}

TEST(CompareText, TellsGainsThenLossesAndHowManyAreLeftOut) {
  SampleMemory memory;
  memory.add_segment(4 * kSampleMiB, false);
  const std::uint64_t loaded = memory.allocate(2000, 1);
  memory.allocate(1000, 2);
  const MemorySnapshot before = of_device(memory);
  memory.free(loaded);
  memory.allocate(5000, 2);
  memory.allocate(100);
  const std::vector<DeviceChange> changes = compare(before, of_device(memory));

  EXPECT_EQ(compare_text(changes, By::Stack, Charset::Utf8, 1),
            "cuda:0  held 3.000 KiB -> 6.500 KiB (+3.500 KiB, +1 block)\n"
            "  by stack\n"
            "     +5.000 KiB     +1 block  1.000 KiB -> 6.000 KiB\n"
            "        forward(int) (model.cpp:7)\n"
            "        main (train.cpp:40)\n"
            "     -2.000 KiB     -1 block  2.000 KiB -> 0 B\n"
            "        load(batch const&) (loader.cpp:12)\n"
            "        main (train.cpp:40)\n"
            "    and 1 smaller (--top 0 shows all)\n");
  EXPECT_THAT(compare_text(changes, By::Size, Charset::Utf8, 10),
              HasSubstr("     +5.000 KiB     +1 block  0 B -> 5.000 KiB  in blocks up to 8.000 KiB\n"));
}

TEST(CompareJson, HasBothSidesOfEveryChange) {
  SampleMemory memory;
  memory.add_segment(4 * kSampleMiB, false);
  const MemorySnapshot before = of_device(memory);
  memory.allocate(1000, 2);

  const json changes = json::parse(compare_json(compare(before, of_device(memory))));

  const json& change = changes["devices"][0]["by_stack"][0];
  EXPECT_EQ(change["frames"][0]["name"], "forward(int)");
  EXPECT_EQ(change["before"]["bytes"], 0);
  EXPECT_EQ(change["after"]["bytes"], 1024);
  EXPECT_EQ(changes["devices"][0]["by_size"][0]["up_to_bytes"], 1024);
}

constexpr const char* kMonday = R"({"schema": 1, "state": "live", "devices": [{"device": "cuda:0",
    "stats": {"allocated_bytes.all.current": 2048, "num_ooms": 0}, "held": {"current_bytes": 4096, "peak_bytes": 4096},
    "cache": {"hits": 5}, "kinds": null, "limit_bytes": null}]})";
constexpr const char* kTuesday = R"({"schema": 1, "state": "live", "devices": [{"device": "cuda:0",
    "stats": {"allocated_bytes.all.current": 1024, "num_ooms": 2}, "held": {"current_bytes": 4096, "peak_bytes": 8192},
    "cache": {"hits": 1005}, "kinds": null, "limit_bytes": 100}]})";

TEST(CompareCounters, TellsEveryOneThatIsNotTheSame) {
  const Value monday = read_json(kMonday);
  const Value tuesday = read_json(kTuesday);
  ASSERT_TRUE(is_show_document(monday));

  const std::vector<CounterChange> changes = compare_counters(monday, tuesday);

  EXPECT_EQ(compare_text(changes, Charset::Utf8),
            "DEVICE  COUNTER                         BEFORE      AFTER      CHANGE\n"
            "cuda:0  allocated_bytes.all.current  2.000 KiB  1.000 KiB  -1.000 KiB\n"
            "cuda:0  num_ooms                             0          2          +2\n"
            "cuda:0  held.peak_bytes              4.000 KiB  8.000 KiB  +4.000 KiB\n"
            "cuda:0  cache.hits                           5      1,005      +1,000\n");
  EXPECT_EQ(json::parse(compare_json(changes))["counters"][1]["after"], 2);
  EXPECT_EQ(compare_text(compare_counters(monday, monday), Charset::Utf8), "every counter is the same\n");
}

// A hundred sites take and give back; one keeps what it takes.
TEST(Growth, NamesTheOneSiteThatKeepsWhatItTakes) {
  SampleMemory memory;
  memory.add_segment(200 * kSampleMiB, false);
  std::vector<Frames> stacks{{}};
  for (int site = 1; site <= 100; ++site) {
    stacks.push_back({{.name = "site" + std::to_string(site)}, {.name = "main"}});
  }
  const std::uint64_t begin = memory.now_ns();
  const auto round = [&] {
    std::vector<std::uint64_t> taken;
    for (history::StackId site = 1; site <= 100; ++site) {
      taken.push_back(memory.allocate(4096, site));
    }
    for (history::StackId site = 1; site <= 100; ++site) {
      if (site != 42) {
        memory.free(taken[site - 1]);
      }
    }
  };
  for (int i = 0; i < 5; ++i) {
    round();
  }
  MemorySnapshot middle = of_device(memory);
  middle.stacks = stacks;
  for (int i = 0; i < 5; ++i) {
    round();
  }
  MemorySnapshot end = of_device(memory);
  end.stacks = stacks;

  const std::vector<DeviceGrowth> growth = find_growth(begin, middle, end);

  ASSERT_THAT(growth, SizeIs(1));
  ASSERT_THAT(growth[0].growing, SizeIs(1));
  EXPECT_EQ(growth[0].growing[0].frames[0].name, "site42");
  EXPECT_EQ(growth[0].growing[0].grew_bytes(), 5 * 4096U);
  EXPECT_EQ(growth[0].growing[0].survived.blocks, 5U);
}

// A cache that is filled once and then stays as it is; a buffer that is taken anew and larger each time.
TEST(Growth, IsNothingThatOnlyStaysOrOnlyGrows) {
  SampleMemory memory;
  memory.add_segment(64 * kSampleMiB, false);
  const std::uint64_t begin = memory.now_ns();
  memory.allocate(1 * kSampleMiB, 1);
  const std::uint64_t buffer = memory.allocate(2 * kSampleMiB, 2);
  const MemorySnapshot middle = of_device(memory);
  memory.free(buffer);
  memory.allocate(4 * kSampleMiB, 2);

  const std::vector<DeviceGrowth> growth = find_growth(begin, middle, of_device(memory));

  EXPECT_THAT(growth[0].growing, IsEmpty());
  EXPECT_EQ(growth_text(growth, Charset::Utf8, 10),
            "cuda:0  held 3.000 MiB -> 5.000 MiB in the second half\n"
            "  2.000 MiB grew by what had kept nothing before; with a longer --for it is seen whether that stays\n");
}

TEST(Growth, OfWhichTheStackIsNotKnownIsToldAsSuch) {
  SampleMemory memory;
  memory.add_segment(64 * kSampleMiB, false);
  const std::uint64_t begin = memory.now_ns();
  memory.allocate(1 * kSampleMiB, 1);
  const MemorySnapshot middle = of_device(memory);
  memory.allocate(3 * kSampleMiB);

  const std::vector<DeviceGrowth> growth = find_growth(begin, middle, of_device(memory));

  EXPECT_EQ(growth_text(growth, Charset::Utf8, 10),
            "cuda:0  held 1.000 MiB -> 4.000 MiB in the second half\n"
            "  3.000 MiB grew whose stack is not known\n");
  EXPECT_EQ(json::parse(growth_json(growth, 1))["devices"][0]["grew_unknown_bytes"], 3 * kSampleMiB);
  EXPECT_EQ(growth_text(find_growth(begin, middle, middle), Charset::Utf8, 10),
            "cuda:0  held 1.000 MiB -> 1.000 MiB in the second half\n"
            "  nothing grew and stayed\n");
}

TEST(Growth, IsToldWithWhatIsStillThere) {
  SampleMemory memory;
  memory.add_segment(64 * kSampleMiB, false);
  const std::uint64_t begin = memory.now_ns();
  memory.allocate(1 * kSampleMiB, 1);
  memory.allocate(1 * kSampleMiB, 1);
  const MemorySnapshot middle = of_device(memory);
  memory.allocate(1 * kSampleMiB, 1);

  const std::vector<DeviceGrowth> growth = find_growth(begin, middle, of_device(memory));

  EXPECT_EQ(
      growth_text(growth, Charset::Utf8, 10),
      "cuda:0  held 2.000 MiB -> 3.000 MiB in the second half\n"
      "  grew and stayed\n"
      "    +1.000 MiB, +1 block: 2 blocks of 2.000 MiB from the first half still there; holds 3.000 MiB in 3 blocks\n"
      "        load(batch const&) (loader.cpp:12)\n"
      "        main (train.cpp:40)\n");
  const json document = json::parse(growth_json(growth, 1.5));
  EXPECT_EQ(document["seconds"], 1.5);
  EXPECT_EQ(document["devices"][0]["grew"][0]["survived"]["blocks"], 2);
}

}  // namespace
}  // namespace tidemark::viewer
