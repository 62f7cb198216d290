// Sums over processes that come, end, and are reset.
#include "tests/viewer/export/export_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

using enum BasisWord;
using segment::ProcessState;
using testing::Optional;

constexpr const char* kAllocations = "tidemark_allocations_total";

ProcessView with_allocations(ProcessView process, std::uint64_t count) {
  return BooksWorld::changed(std::move(process), [&](DeviceBasis& basis) { basis[large_allocations_total] = count; });
}

class CountersOfBooks : public testing::Test {
 protected:
  CountersOfBooks() { world_.look({}); }

  BooksWorld world_;
  const ProcessView one_ = BooksWorld::process(1, "train");
  const ProcessView two_ = BooksWorld::process(2, "train");
};

TEST_F(CountersOfBooks, BeginAtZeroOnTheFirstPage) {
  world_.look({with_allocations(one_, 5)});

  EXPECT_THAT(world_.value(kAllocations), Optional(0));
  EXPECT_THAT(world_.value(kAllocations), Optional(5)) << "on the next";
}

// Somebody's curl took the 0 that a server adds up from.
TEST_F(CountersOfBooks, BeginAtZeroForEachReader) {
  constexpr ReaderSet kOne = 1;
  constexpr ReaderSet kOther = 2;
  world_.look({with_allocations(one_, 5)});
  EXPECT_THAT(world_.value(kAllocations, {}, kOne), Optional(0));

  EXPECT_THAT(world_.value(kAllocations, {}, kOther), Optional(0));
  EXPECT_THAT(world_.value(kAllocations, {}, kOne), Optional(5));
  EXPECT_THAT(world_.value(kAllocations, {}, kOther), Optional(5));
}

TEST_F(CountersOfBooks, AreNoNewsToWhomeverComesLater) {
  constexpr ReaderSet kLate = 4;
  world_.look({with_allocations(one_, 5)});
  world_.page();
  world_.look({with_allocations(one_, 5), with_allocations(two_, 1)}, std::chrono::minutes{2});
  world_.books.welcome(kLate, world_.now);
  EXPECT_THAT(world_.value(kAllocations, {}, kLate), Optional(6)) << "a group of two minutes' age";
  world_.look({with_allocations(one_, 5), with_allocations(two_, 1), BooksWorld::process(3, "fresh")});
  world_.books.welcome(kLate, world_.now);
  EXPECT_THAT(world_.value("tidemark_group_processes", {"command=\"fresh\""}, kLate), Optional(1));
}

TEST(Readers, HaveABitEach) {
  Readers readers;
  const Readers::Found one = readers.find("10.0.0.1 Prometheus/2.42");
  EXPECT_TRUE(one.is_new);
  EXPECT_FALSE(readers.find("10.0.0.1 Prometheus/2.42").is_new);
  const Readers::Found other = readers.find("10.0.0.2 Prometheus/2.42");
  EXPECT_TRUE(other.is_new);
  EXPECT_EQ(one.reader & other.reader, 0U);
  for (std::size_t i = 0; i < Readers::kMost - 1; ++i) {
    static_cast<void>(readers.find("curl " + std::to_string(i)));
    static_cast<void>(readers.find("10.0.0.2 Prometheus/2.42"));
  }
  EXPECT_FALSE(readers.find("10.0.0.2 Prometheus/2.42").is_new) << "who reads stays";
  EXPECT_TRUE(readers.find("10.0.0.1 Prometheus/2.42").is_new);
}

TEST_F(CountersOfBooks, OfOneProgramAreOneSum) {
  world_.look({with_allocations(one_, 5), with_allocations(two_, 7)});
  world_.page();

  EXPECT_THAT(world_.value(kAllocations), Optional(12));
}

TEST_F(CountersOfBooks, OutliveTheProcess) {
  world_.look({with_allocations(one_, 5), with_allocations(two_, 7)});
  world_.page();
  world_.look({BooksWorld::ended(with_allocations(one_, 6)), with_allocations(two_, 7)});
  EXPECT_THAT(world_.value(kAllocations), Optional(13)) << "its last allocation";

  for (int look = 0; look < 3; ++look) {
    world_.look({BooksWorld::ended(with_allocations(one_, 6)), with_allocations(two_, 7)});
  }
  EXPECT_THAT(world_.value(kAllocations), Optional(13)) << "counted once, as long as its file is there";

  world_.look({with_allocations(two_, 8)});
  EXPECT_THAT(world_.value(kAllocations), Optional(14)) << "nor less when it is gone";
}

TEST_F(CountersOfBooks, DoNotFallAtAReset) {
  world_.look({with_allocations(one_, 100)});
  world_.page();

  world_.look({BooksWorld::changed(with_allocations(one_, 3),
                                   [](DeviceBasis& basis) { basis[accumulated_reset_time_ns] = kSampleNow; })});
  EXPECT_THAT(world_.value(kAllocations), Optional(103));

  world_.look({BooksWorld::changed(with_allocations(one_, 9),
                                   [](DeviceBasis& basis) { basis[accumulated_reset_time_ns] = kSampleNow; })});
  EXPECT_THAT(world_.value(kAllocations), Optional(109));
}

TEST_F(CountersOfBooks, OfOutOfMemoryAreUntouchedByResets) {
  const auto with_ooms = [&](std::uint64_t ooms, std::uint64_t reset) {
    return BooksWorld::changed(one_, [&](DeviceBasis& basis) {
      basis[oom_count_lifetime] = ooms;
      basis[limit_rejections_lifetime] = ooms - 1;
      basis[oom_time_ns] = kSampleNow;
      basis[accumulated_reset_time_ns] = reset;
    });
  };
  world_.look({with_ooms(2, 0)});
  world_.page();
  world_.look({with_ooms(3, 77)});

  EXPECT_THAT(world_.value("tidemark_ooms_total"), Optional(3));
  EXPECT_THAT(world_.value("tidemark_limit_rejections_total"), Optional(2));
  EXPECT_THAT(world_.value("tidemark_last_oom_timestamp_seconds"), Optional(1'790'000'000));
  world_.look({});
  EXPECT_THAT(world_.value("tidemark_last_oom_timestamp_seconds"), Optional(1'790'000'000)) << "it killed the process";
}

TEST_F(CountersOfBooks, OfForeignFreesGrowWithTheProcesses) {
  const auto with_foreign_frees = [](ProcessView process, std::uint64_t frees) {
    process.snapshot.globals.hooks.foreign_frees = frees;
    return process;
  };
  world_.look({with_foreign_frees(one_, 5)});
  world_.page();
  world_.look({with_foreign_frees(one_, 7), with_foreign_frees(two_, 1)});
  EXPECT_THAT(world_.value("tidemark_foreign_frees_total"), Optional(8));
  world_.look({with_foreign_frees(two_, 4)});
  EXPECT_THAT(world_.value("tidemark_foreign_frees_total"), Optional(11)) << "a process that is gone leaves its own";
}

// A driver that refuses makes a number step back for an instant.
TEST_F(CountersOfBooks, TakeAStepBackForNone) {
  world_.look({with_allocations(one_, 10)});
  world_.page();
  world_.look({with_allocations(one_, 9)});
  EXPECT_THAT(world_.value(kAllocations), Optional(10));
  world_.look({with_allocations(one_, 11)});
  EXPECT_THAT(world_.value(kAllocations), Optional(11));
}

TEST_F(CountersOfBooks, CountExitsByTheirWay) {
  world_.look({one_, two_, BooksWorld::process(3, "train")});
  world_.page();
  world_.look({BooksWorld::ended(one_, ProcessState::Exited), BooksWorld::ended(two_, ProcessState::Killed),
               BooksWorld::ended(BooksWorld::process(3, "train"), ProcessState::Replaced)});

  EXPECT_THAT(world_.value("tidemark_exits_total", {"how=\"clean\""}), Optional(1));
  EXPECT_THAT(world_.value("tidemark_exits_total", {"how=\"killed\""}), Optional(1));
}

TEST_F(CountersOfBooks, HaveWhatWasHeldAtTheEnd) {
  const ProcessView holding = BooksWorld::process(1, "train", {.allocated = 3_MiB, .peak = 4_MiB, .reserved = 4_MiB});
  world_.look({holding});
  world_.page();
  EXPECT_THAT(world_.value("tidemark_held_at_exit_bytes_total"), Optional(0));

  world_.look({BooksWorld::ended(holding, ProcessState::Exited)});

  EXPECT_THAT(world_.value("tidemark_held_at_exit_bytes_total"), Optional(3 << 20));
  EXPECT_EQ(world_.value("tidemark_allocated_bytes"), std::nullopt) << "no gauge of the dead";
}

// Else a restarted exporter would make an event of everything that ever happened.
TEST(Counters, LeaveOutWhatWasBeforeTheExporter) {
  BooksWorld world;
  const ProcessView old = BooksWorld::process(1, "train");
  const ProcessView dead = BooksWorld::process(2, "train", {.allocated = 1_MiB, .peak = 1_MiB, .reserved = 2_MiB});
  world.look({with_allocations(old, 1000), BooksWorld::ended(with_allocations(dead, 500))});
  world.page();
  world.look({with_allocations(old, 1003), BooksWorld::ended(with_allocations(dead, 500))});

  EXPECT_THAT(world.value(kAllocations), Optional(3));
  EXPECT_THAT(world.value("tidemark_exits_total"), Optional(0));
  EXPECT_THAT(world.value("tidemark_held_at_exit_bytes_total"), Optional(0));
}

TEST(Counters, OfASingleLookTellEverything) {
  BooksWorld world({.is_lasting = false});
  world.look({with_allocations(BooksWorld::process(1, "train"), 1000),
              BooksWorld::ended(with_allocations(BooksWorld::process(2, "train"), 500))});

  EXPECT_THAT(world.value(kAllocations), Optional(1500));
  EXPECT_THAT(world.value("tidemark_exits_total", {"how=\"killed\""}), Optional(1));
  EXPECT_EQ(world.value("tidemark_allocated_window_peak_bytes"), std::nullopt) << "nobody watched for a minute";
}

TEST(Counters, OfAProcessWithAReusedPidAreItsOwn) {
  BooksWorld world;
  world.look({});
  ProcessView first = BooksWorld::process(1, "train");
  ProcessView second = BooksWorld::process(2, "train");
  first.snapshot.pid = second.snapshot.pid = 4711;
  world.look({with_allocations(first, 10)});
  world.page();
  world.look({with_allocations(second, 4)});

  EXPECT_THAT(world.value(kAllocations), Optional(14));
}

TEST(Groups, StayForAnHourWithoutAProcess) {
  BooksWorld world;
  world.look({});
  world.look({BooksWorld::process(1, "train")});
  world.look({}, Seconds{3500});
  EXPECT_THAT(world.value("tidemark_group_processes", {"command=\"train\""}), Optional(0));

  world.look({}, Seconds{200});

  EXPECT_EQ(world.value("tidemark_group_processes", {"command=\"train\""}), std::nullopt);
}

TEST(Groups, AreToldApartByLabelCommandAndDevice) {
  BooksWorld world;
  ProcessView labelled = BooksWorld::process(2, "train", {.allocated = 2_MiB});
  labelled.snapshot.identity.label = "eval";
  world.look({BooksWorld::process(1, "train", {.allocated = 1_MiB}), labelled,
              BooksWorld::process(3, "serve", {.allocated = 4_MiB}),
              BooksWorld::process(4, "train", {.allocated = 8_MiB}, 1)});

  const char* const kName = "tidemark_allocated_bytes";
  EXPECT_THAT(world.value(kName, {"label=\"eval\""}), Optional(2 << 20));
  EXPECT_THAT(world.value(kName, {"command=\"serve\""}), Optional(4 << 20));
  EXPECT_THAT(world.value(kName, {"000000000001\"", "command=\"train\""}), Optional(8 << 20));
  EXPECT_THAT(world.value(kName), Optional(15 << 20)) << "a sum over all labels is a sum";
}

TEST(Groups, HaveTheHighestPeakAndTheLowestLimit) {
  BooksWorld world;
  const auto limited = [](ProcessView process, std::uint64_t limit) {
    return BooksWorld::changed(std::move(process), [&](DeviceBasis& basis) { basis[limit_bytes] = limit; });
  };
  world.look(
      {limited(BooksWorld::process(1, "train", {.allocated = 1_MiB, .peak = 8_MiB, .reserved = 8_MiB}), 64 << 20),
       limited(BooksWorld::process(2, "train", {.allocated = 2_MiB, .peak = 3_MiB, .reserved = 4_MiB}), 32 << 20),
       BooksWorld::process(3, "free")});

  EXPECT_THAT(world.value("tidemark_allocated_bytes", {"train"}), Optional(3 << 20));
  EXPECT_THAT(world.value("tidemark_allocated_peak_bytes", {"train"}), Optional(8 << 20));
  EXPECT_THAT(world.value("tidemark_reserved_lifetime_peak_bytes", {"train"}), Optional(8 << 20));
  EXPECT_THAT(world.value("tidemark_limit_bytes", {"train"}), Optional(32 << 20));
  EXPECT_EQ(world.value("tidemark_limit_bytes", {"free"}), std::nullopt) << "not 0, and not infinite";
}

TEST(Groups, AreSingleProcessesIfAskedTo) {
  BooksWorld world({.per_process = true});
  ProcessView hidden = BooksWorld::process(2, "train", {.allocated = 2_MiB});
  hidden.snapshot.pid = 0;  // in another pid namespace
  hidden.snapshot.identity.pid = 1;
  world.look({BooksWorld::process(1, "train", {.allocated = 1_MiB}), hidden});

  EXPECT_THAT(world.value("tidemark_allocated_bytes", {"id=\"00000001\",pid=\"1\""}), Optional(1 << 20));
  EXPECT_THAT(world.value("tidemark_allocated_bytes", {"id=\"00000002\"}"}), Optional(2 << 20));
  EXPECT_THAT(world.value("tidemark_process_info", {"id=\"00000002\",ns_pid=\"1\"", "user=\"1000\""}), Optional(1));
}

// What was left by processes that were dead long ago took the places of those that live.
TEST(SeriesOfBooks, AreForTheLivingFirst) {
  BooksWorld world({.max_series = series_of_group() + series_of_device()});
  world.look({BooksWorld::ended(BooksWorld::process(1, "old")), BooksWorld::process(2, "now")});

  EXPECT_THAT(world.value("tidemark_group_processes", {"command=\"now\""}), Optional(1));
  EXPECT_EQ(world.value("tidemark_group_processes", {"command=\"old\""}), std::nullopt);
  EXPECT_EQ(world.value("tidemark_group_processes", {"command=\"_other\""}), std::nullopt);

  BooksWorld single({.max_series = series_of_group() + series_of_device(), .is_lasting = false});
  single.look({BooksWorld::ended(BooksWorld::process(1, "old"), ProcessState::Exited), BooksWorld::process(2, "now")});
  EXPECT_THAT(single.value("tidemark_group_processes", {"command=\"now\""}), Optional(1));
  EXPECT_THAT(single.value("tidemark_exits_total", {"command=\"_other\"", "clean"}), Optional(1));
}

TEST(Groups, BeyondTheLimitGoTogether) {
  BooksWorld world({.max_series = 2 * (series_of_group() + series_of_device())});
  world.look({});
  std::vector<ProcessView> processes;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    processes.push_back(with_allocations(BooksWorld::process(i, "job" + std::to_string(i), {.allocated = 1_MiB}), i));
  }
  world.look(processes);
  world.page();

  EXPECT_THAT(world.value("tidemark_allocated_bytes", {"command=\"job2\""}), Optional(1 << 20));
  EXPECT_THAT(world.value("tidemark_allocated_bytes", {"command=\"_other\""}), Optional(3 << 20));
  EXPECT_THAT(world.value(kAllocations, {"command=\"_other\""}), Optional(3 + 4 + 5));
  EXPECT_THAT(world.value("tidemark_series_dropped"), Optional(3 * (series_of_group() + series_of_device())));

  // Room that becomes free is for newcomers: what was folded stays where it is, so that no counter falls.
  world.look({processes[4]}, Seconds{4000});
  world.look({processes[4], BooksWorld::process(6, "job6", {.allocated = 1_MiB})});

  EXPECT_THAT(world.value(kAllocations, {"command=\"_other\""}), Optional(3 + 4 + 5));
  EXPECT_THAT(world.value("tidemark_allocated_bytes", {"command=\"job6\""}), Optional(1 << 20));
  EXPECT_EQ(world.value(kAllocations, {"command=\"job1\""}), std::nullopt);
}

TEST(Groups, NeverHaveMoreSeriesThanTheyTookRoomFor) {
  BooksWorld world({.per_process = true});
  ProcessView full = BooksWorld::changed(
      BooksWorld::process(1, "train", {.allocated = 1_MiB, .peak = 1_MiB, .reserved = 2_MiB}), [](DeviceBasis& basis) {
        basis[limit_bytes] = 1 << 30;
        basis[oom_time_ns] = kSampleNow;
      });
  full.snapshot.host_kinds.emplace();
  for (KindCount& kind : full.snapshot.host_kinds->kinds) kind.total_count = 1;
  for (KindCount& kind : full.devices[0].snapshot.kinds->kinds) kind.total_count = 1;
  world.look({full});

  std::size_t series = 0;
  std::istringstream lines(world.page());
  for (std::string line; std::getline(lines, line);) {
    series += std::size_t{line.find("command=\"train\"") != std::string::npos};
  }

  EXPECT_EQ(series, series_of_group() + series_of_device());
}

TEST(Ranks, AreToldApartUpToTheLimit) {
  BooksWorld world({.max_series = series_of_group() + series_of_device()});
  std::vector<ProcessView> ranks;
  for (std::uint64_t i = 0; i < 8; ++i) {
    ranks.push_back(BooksWorld::process(i + 1, "train", {.allocated = 1_MiB, .peak = Bytes{(i + 1) << 20}}));
    ranks.back().snapshot.identity.rank.global = static_cast<std::int64_t>(7 - i);
  }
  world.look(ranks);

  EXPECT_THAT(world.value("tidemark_member_allocated_peak_bytes", {"rank=\"0\""}), Optional(8 << 20));
  EXPECT_EQ(world.value("tidemark_member_allocated_peak_bytes", {"rank=\"7\""}), std::nullopt);
  EXPECT_GT(world.value("tidemark_series_dropped").value_or(0), 0);
}

TEST(SegmentErrors, AreCountedOnceForEachFile) {
  BooksWorld world;
  const auto look = [&](std::vector<SkippedSegment> skipped) {
    View view{.host = {}, .time_ns = kSampleNow, .processes = {}, .hidden = {}, .skipped = std::move(skipped)};
    world.books.take(std::move(view), {}, world.now);
  };
  EXPECT_THAT(world.value("tidemark_segment_errors_total"), Optional(0)) << "there from the beginning";
  for (int i = 0; i < 3; ++i) {
    look({{.path = "/a", .id = {}, .reason = {}}, {.path = "/b", .id = {}, .reason = {}, .wrong_layout = true}});
  }

  EXPECT_THAT(world.value("tidemark_segment_errors_total", {"damaged"}), Optional(1));
  EXPECT_THAT(world.value("tidemark_segment_errors_total", {"wrong_layout"}), Optional(1));
}

}  // namespace
}  // namespace tidemark::viewer
