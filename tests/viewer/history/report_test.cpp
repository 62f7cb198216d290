// What a report says of a snapshot: the numbers, and the text that has them.
#include "viewer/history/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

#include "tests/viewer/history/sample_memory.hpp"
#include "tests/viewer/in_utf8_and_utc.hpp"
#include "viewer/history/frame_text.hpp"
#include "viewer/history/report_json.hpp"
#include "viewer/history/report_text.hpp"
#include "viewer/history/sparkline.hpp"
#include "viewer/history/take_snapshot.hpp"

namespace tidemark::viewer {
namespace {

using nlohmann::json;
using test::kSampleMiB;
using test::sample_snapshot;
using test::SampleMemory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Reports = InUtf8AndUtc;

MemorySnapshot of_device(const SampleMemory& memory) {
  MemorySnapshot snapshot;
  snapshot.recording.enabled = history::Enabled::All;
  snapshot.recording.taken_ns = memory.now_ns();
  snapshot.devices.push_back(memory.device());
  snapshot.stacks = test::sample_stacks();
  return snapshot;
}

TEST_F(Reports, SumsUpWhatEachStackHolds) {
  const Report report = report_of(sample_snapshot(), 4);

  const std::vector<StackHeld>& stacks = report.devices[0].stacks;
  ASSERT_EQ(stacks.size(), 3U);
  EXPECT_EQ(stacks[0].frames[0].name, "load(batch const&)");
  EXPECT_EQ(stacks[0].held.bytes, 3 * kSampleMiB);
  EXPECT_EQ(stacks[1].frames[0].name, "forward(int)");
  EXPECT_EQ(stacks[1].held.bytes, kSampleMiB + 1024);
  EXPECT_EQ(stacks[1].held.requested, kSampleMiB + 600);
  EXPECT_EQ(stacks[1].held.blocks, 2U);
  EXPECT_EQ(stacks[2].frames[0].name, kBeforeRecording);
  EXPECT_EQ(report.devices[0].all.bytes, 4 * kSampleMiB + 1024 + 512);
}

TEST_F(Reports, PutsStacksOfTheSameCallsTogether) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  memory.allocate(512, 1);
  memory.allocate(512, 3);
  MemorySnapshot snapshot = of_device(memory);
  snapshot.stacks.push_back(snapshot.stacks[1]);  // another address, the same line

  EXPECT_EQ(report_of(snapshot, 4).devices[0].stacks.size(), 1U);
}

TEST_F(Reports, SortsBlocksIntoClassesOfSizeAndAge) {
  const Report report = report_of(sample_snapshot(), 4);

  std::vector<std::uint64_t> sizes;
  for (const SizeHeld& size : report.devices[0].sizes) {
    sizes.push_back(size.up_to);
  }
  EXPECT_THAT(sizes, ElementsAre(512, 1024, kSampleMiB, 4 * kSampleMiB));
  const std::vector<AgeHeld>& ages = report.devices[0].ages;
  ASSERT_EQ(ages.size(), 3U);
  EXPECT_EQ(ages[0].to, 10U);  // 600 bytes, 5 s ago
  EXPECT_EQ(ages[0].held.blocks, 1U);
  EXPECT_EQ(ages[1].from, 10U);
  EXPECT_EQ(ages[1].held.blocks, 2U);
  EXPECT_EQ(ages[2].from, 60U);  // older than the recording
  EXPECT_EQ(ages[2].held.bytes, 512U);
}

TEST_F(Reports, TellsHowEachPoolIsCutUp) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  const std::uint64_t filler = memory.allocate(2 * kSampleMiB);
  memory.add_segment(2 * kSampleMiB, false);
  memory.allocate(1000);
  const std::uint64_t hole = memory.allocate(2000);
  memory.allocate(3000);
  memory.free(hole);
  memory.free(filler);

  const PoolReport small = report_of(of_device(memory), 4).devices[0].pools[0];

  EXPECT_EQ(small.segments, 2U);
  EXPECT_EQ(small.reserved, 4 * kSampleMiB);
  EXPECT_EQ(small.allocated, 1024U + 3072U);
  EXPECT_EQ(small.free, 4 * kSampleMiB - 4096);
  EXPECT_EQ(small.free_blocks, 3U);
  EXPECT_EQ(small.largest_free, 2 * kSampleMiB);
  EXPECT_EQ(small.split_free, 2 * kSampleMiB - 4096);
  EXPECT_EQ(small.idle_segments, 1U);
}

TEST_F(Reports, TellsTheMostOfEachPartOfTheTime) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);                // at 1 ms
  const std::uint64_t block = memory.allocate(512 * 1024);  // 2 ms
  memory.free(block);                                       // 3 and 4 ms
  memory.pass(93);
  memory.allocate(1024);  // 98 ms
  memory.pass(3);

  const DeviceReport report = report_of(of_device(memory), 4).devices[0];

  std::vector<std::uint64_t> held;
  for (const TimePart& part : report.timeline) {
    held.push_back(part.allocated);
  }
  EXPECT_THAT(held, ElementsAre(512 * 1024, 0, 0, 1024));
  EXPECT_EQ(report.highest->allocated, 512 * 1024U);
  EXPECT_EQ(report.timeline_end_ns - report.timeline[0].time_ns, 100'000'000U);
}

TEST_F(Reports, ReadForPeople) {
  EXPECT_EQ(report_text(report_of(sample_snapshot(), kTextParts), Charset::Utf8, 10), R"(train: ./train
  pid 4711, id 9f3c01aa, at 14:14:35; recorded since 14:14:20 (15 s): all, stacks cpp

cuda:0  Sample device
  held  4.001 MiB in 4 blocks (requested 4.001 MiB); freed but pending 2.000 KiB
  reserved  6.000 MiB in 2 segments; free in them 1.997 MiB
  by stack
    3.000 MiB   75.0 %  1 block, oldest 15 s
        load(batch const&) (loader.cpp:12)
        main (train.cpp:40)
    1.001 MiB   25.0 %  2 blocks, oldest 15 s
        forward(int) (model.cpp:7)
        main (train.cpp:40)
      512 B      0.0 %  1 block, oldest 1 min 15 s
        (allocated before the recording began)
  by size
    BLOCKS UP TO      BYTES   SHARE  BLOCKS
    512 B           512 B     0.0 %       1
    1.000 KiB     1.000 KiB   0.0 %       1
    1.000 MiB     1.000 MiB  25.0 %       1
    4.000 MiB     3.000 MiB  75.0 %       1
  by age
    AGE                            BYTES    SHARE  BLOCKS
    1 s to 10 s                1.000 KiB    0.0 %       1
    10 s to 1 min 00 s         4.000 MiB  100.0 %       2
    1 min 00 s to 10 min 00 s    512 B      0.0 %       1
  fragmentation
    POOL    RESERVED       HELD       FREE  LARGEST FREE  FREE IN SPLIT SEGMENTS  IDLE SEGMENTS
    small  2.000 MiB  1.001 MiB   1021 KiB     727.5 KiB                1021 KiB         0 of 1
    large  4.000 MiB  3.000 MiB  1.000 MiB     1.000 MiB               1.000 MiB         0 of 1
  timeline  11 events of 15 s
    14:14:20 |████████████████████████████████████████▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇| 14:14:35
    highest 4.290 MiB at 14:14:30
  out of memory at 14:14:30: 100.0 MiB wanted, 7.000 MiB free on the device
      load(batch const&) (loader.cpp:12)
      main (train.cpp:40)
)");
}

TEST_F(Reports, SaysWhatIsNotKnownInsteadOfNothing) {
  MemorySnapshot snapshot = sample_snapshot();
  snapshot.recording.enabled = history::Enabled::Off;
  snapshot.devices[0].events.clear();
  for (history::Segment& segment : snapshot.devices[0].segments) {
    for (history::Block& block : segment.blocks) {
      block.stack = 0;
      block.is_older = false;
      block.birth_ns.reset();
    }
  }

  const std::string text = report_text(report_of(snapshot, kTextParts), Charset::Utf8, 10);

  EXPECT_THAT(text, HasSubstr("not recorded: blocks, sizes and ages alone"));
  EXPECT_THAT(text, HasSubstr("by stack: no stacks were recorded"));
  EXPECT_THAT(text, HasSubstr("timeline: no events were recorded"));
  EXPECT_THAT(text, HasSubstr("not known"));
}

// A program that tries again and again would fill pages with it.
TEST_F(Reports, TellWhoAskedForWhatWasRefusedAndHowOften) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  for (int i = 0; i < 1200; ++i) {
    memory.run_out(100 * kSampleMiB, 500 * kSampleMiB, 1);
  }
  memory.run_out(200 * kSampleMiB, 7 * kSampleMiB, 1);
  memory.run_out(200 * kSampleMiB, 7 * kSampleMiB, 1);
  memory.run_out(100 * kSampleMiB, 7 * kSampleMiB);
  MemorySnapshot snapshot = of_device(memory);
  DeviceBasis& basis = snapshot.devices[0].basis.emplace();
  basis[BasisWord::limit_bytes] = 64 * kSampleMiB;
  basis[BasisWord::limit_rejections_lifetime] = 1200;

  const Report report = report_of(snapshot, kTextParts);
  const std::string text = report_text(report, Charset::Utf8, 10);

  ASSERT_EQ(report.devices[0].out_of_memory.size(), 3U);
  EXPECT_THAT(text, HasSubstr("  out of memory 1,200 times from 14:13:20 to 14:13:21: 100.0 MiB wanted, 500.0 MiB free "
                              "on the device, refused by the limit of 64.00 MiB\n"
                              "      load(batch const&) (loader.cpp:12)\n"
                              "      main (train.cpp:40)\n"
                              "  out of memory 2 times at 14:13:21: 200.0 MiB wanted, 7.000 MiB free on the device\n"
                              "      load(batch const&) (loader.cpp:12)\n"));
  const json failures = json::parse(report_json(report))["devices"][0]["out_of_memory"];
  EXPECT_EQ(failures[0]["times"], 1200);
  EXPECT_EQ(failures[0]["limit_bytes"], 64 * kSampleMiB);
  EXPECT_EQ(failures[0]["frames"][1]["name"], "main");
  EXPECT_GT(failures[0]["last_time"], failures[0]["time"]);
  EXPECT_TRUE(failures[1]["limit_bytes"].is_null());
  EXPECT_TRUE(failures[2]["frames"].empty());
}

// There was no recording that could have begun later.
TEST_F(Reports, OfWhatWasNotRecordedSayThatThereAreNoStacksAndHowToHaveThem) {
  MemorySnapshot snapshot = sample_snapshot();
  snapshot.recording.enabled = history::Enabled::Off;
  snapshot.recording.stacks = history::Stacks::None;
  snapshot.stacks.resize(1);
  for (history::Segment& segment : snapshot.devices[0].segments) {
    for (history::Block& block : segment.blocks) {
      block.stack = 0;
      block.is_older = true;
    }
  }
  const auto text = [&] { return report_text(report_of(snapshot, kTextParts), Charset::Utf8, 10); };

  EXPECT_THAT(text(), Not(HasSubstr(std::string{kBeforeRecording})));
  EXPECT_THAT(text(), HasSubstr("by stack: no stacks were recorded; to have them from now on: tidemark record start "
                                "4711\n"));
  snapshot.source.is_file = true;
  EXPECT_THAT(text(), HasSubstr("by stack: no stacks were recorded; to have them next time: tidemark run --record -- "
                                "CMD\n"));
  snapshot.recording.enabled = history::Enabled::All;  // with --stacks none
  EXPECT_THAT(text(), HasSubstr("by stack: no stacks were recorded\n"));
}

TEST_F(Reports, FoldAFunctionThatCallsItselfIntoOneLine) {
  MemorySnapshot snapshot = sample_snapshot();
  const Frame self{.name = "rec(int)", .file = "deep.cpp", .line = 5};
  snapshot.stacks[1].insert(snapshot.stacks[1].begin() + 1, 58, self);

  const Report report = report_of(snapshot, kTextParts);

  EXPECT_THAT(report_text(report, Charset::Utf8, 10), HasSubstr("        load(batch const&) (loader.cpp:12)\n"
                                                                "        rec(int) (deep.cpp:5) x 58\n"
                                                                "        main (train.cpp:40)\n"));
  EXPECT_EQ(json::parse(report_json(report))["devices"][0]["by_stack"][0]["frames"].size(), 60U);
}

TEST_F(Reports, TellShortTimesAsFineAsTheyAre) {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  MemorySnapshot snapshot = of_device(memory);
  const auto text = [&] { return report_text(report_of(snapshot, kTextParts), Charset::Utf8, 10); };

  EXPECT_THAT(text(), HasSubstr("  timeline  1 event\n"));
  memory.pass(400);
  snapshot = of_device(memory);
  snapshot.recording.since_ns = memory.now_ns() - 3'100'000'000;
  EXPECT_THAT(text(), HasSubstr("  timeline  1 event of 400 ms\n"));
  EXPECT_THAT(text(), HasSubstr("(3.1 s): all"));
}

// As torch.cuda.memory._snapshot() has it: neither a device's name, nor when it was made.
TEST_F(Reports, SayNothingOfWhatPyTorchDoesNotTell) {
  MemorySnapshot snapshot;
  snapshot.source.title = "a.pickle";
  snapshot.recording.enabled = history::Enabled::All;
  snapshot.devices.emplace_back().info.backend = segment::Backend::Cuda;

  EXPECT_THAT(report_text(report_of(snapshot, kTextParts), Charset::Utf8, 10),
              testing::StartsWith("a.pickle\n"
                                  "  recorded by PyTorch\n"
                                  "\n"
                                  "cuda:0\n"));
}

TEST_F(Reports, SumUpTheStacksThatAreNotTold) {
  const std::string text = report_text(report_of(sample_snapshot(), kTextParts), Charset::Utf8, 1);

  EXPECT_THAT(text, HasSubstr("load(batch const&)"));
  EXPECT_THAT(text, Not(HasSubstr("forward(int)")));
  EXPECT_THAT(text, HasSubstr("3 blocks of 2 stacks more (--top 3 shows them)"));
}

TEST_F(Reports, TellWhatWasLostInNumbersThatCanBeRead) {
  TakenSnapshot taken{.snapshot = sample_snapshot()};
  taken.snapshot.recording.python_omitted = 1;
  taken.snapshot.devices[0].events_ever = 2'177'341;
  taken.snapshot.devices[0].changes_lost = 1'000;

  add_losses(taken);

  EXPECT_THAT(taken.notes, ElementsAre("1 stack is without Python frames: the thread had let go of the GIL",
                                       "cuda:0: 1,000 changes of blocks found no place in the history",
                                       "cuda:0: the history has the last 11 of 2,177,341 events"));
}

TEST_F(Reports, LetNoNameDoAnythingToATerminal) {
  MemorySnapshot snapshot = sample_snapshot();
  snapshot.stacks[1][0].name = "evil\x1b[2J\nline";

  EXPECT_THAT(report_text(report_of(snapshot, kTextParts), Charset::Utf8, 10), HasSubstr("evil [2J line"));
}

TEST_F(Reports, HaveTheSameNumbersForScripts) {
  const json report = json::parse(report_json(report_of(sample_snapshot(), 4)));

  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["pid"], 4711);
  EXPECT_EQ(report["recorded"], "all");
  const json& device = report["devices"][0];
  EXPECT_EQ(device["device"], "cuda:0");
  EXPECT_EQ(device["held"]["bytes"], 4 * kSampleMiB + 1536);
  EXPECT_EQ(device["pending_bytes"], 2048);
  EXPECT_EQ(device["reserved_bytes"], 6 * kSampleMiB);
  EXPECT_EQ(device["by_stack"][0]["frames"][1]["line"], 40);
  EXPECT_EQ(device["timeline"]["parts"].size(), 4U);
  EXPECT_EQ(device["out_of_memory"][0]["requested_bytes"], 100 * kSampleMiB);
  std::uint64_t by_size = 0;
  for (const json& size : device["by_size"]) {
    by_size += size["bytes"].get<std::uint64_t>();
  }
  EXPECT_EQ(by_size, device["held"]["bytes"]);
}

TEST_F(Reports, FoldStacksForFlameGraphs) {
  MemorySnapshot snapshot = sample_snapshot();
  snapshot.stacks[2][0].name = "opera\u202Etor;()\x1b\x07\n";

  EXPECT_EQ(folded_text(snapshot),
            "main;load(batch const&) 3145728\n"
            "main;operator:()    1049600\n"
            "(allocated before the recording began) 512\n");
}

TEST(Sparkline, IsFullAtTheLargestAndEmptyOnlyAtNothing) {
  const std::vector<std::uint64_t> values{0, 1, 500, 1000};

  EXPECT_EQ(sparkline(values, Charset::Utf8), " ▁▄█");
  EXPECT_EQ(sparkline(values, Charset::Ascii), " _-#");
}

}  // namespace
}  // namespace tidemark::viewer
