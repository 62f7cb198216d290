// Memory history of programs that have never heard of it: switched on from the start or while they run, read while they
// live and after they were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "shared/control/client.hpp"
#include "shared/history/reader.hpp"
#include "shared/segment/enumerate.hpp"
#include "tests/end_to_end/guests.hpp"
#include "tests/support/history_check.hpp"

namespace tidemark::test {
namespace {

using history::Action;
using history::BlockState;
using testing::HasSubstr;

class Recording : public GuestTest {
 protected:
  [[nodiscard]] Launch recorded(const std::string& what = "all") const {
    Launch launch = shimmed();
    launch.environment["TIDEMARK_RECORD"] = what;
    return launch;
  }
  [[nodiscard]] Outcome record(const std::string& what, const Guest& guest, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"record", what, std::to_string(guest.pid())};
    words.insert(words.end(), more.begin(), more.end());
    return world_.tidemark(words);
  }

  // Of the one process that has a segment in this world.
  [[nodiscard]] segment::SegmentReader segment() const {
    const std::string directories[] = {world_.directory()};
    segment::SegmentListing found = segment::list_segments(directories);
    EXPECT_EQ(found.segments.size(), 1U);
    return std::move(found.segments.at(0).reader);
  }
  [[nodiscard]] bool has_history() const { return history::HistoryReader::beside(segment()).ok(); }
  // What whoever reads the file finds.
  [[nodiscard]] history::History history() const {
    const auto reader = history::HistoryReader::beside(segment());
    EXPECT_TRUE(reader.ok());
    return reader.ok() ? reader.value().read().value() : history::History{};
  }
  // What the process itself says when it is asked.
  [[nodiscard]] history::History snapshot(bool with_history) const {
    const segment::SegmentReader reader = segment();
    auto client = control::ControlClient::open(reader);
    const control::Outcome outcome =
        client.value().request({.operation = control::Operation::Snapshot, .arguments = {with_history ? 1ULL : 0ULL}},
                               std::chrono::minutes{1});
    EXPECT_EQ(outcome.kind, control::OutcomeKind::Done) << outcome.detail;
    const std::string path = reader.path() + ".snap." + std::to_string(client.value().slot());
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    EXPECT_EQ(static_cast<std::uint64_t>(info.st_size), outcome.results[0]);
    const auto read = history::HistoryReader::open(path);
    ::unlink(path.c_str());
    return read.value().read().value();
  }
  static const history::Device& the_device(const history::History& history) { return history.devices.at(0); }
  static std::vector<Action> actions(const history::History& history) {
    std::vector<Action> all;
    for (const history::Event& event : the_device(history).events) {
      all.push_back(event.action);
    }
    return all;
  }
  static std::uint64_t in_use(const history::History& history) {
    std::uint64_t bytes = 0;
    for (const history::Segment& segment : the_device(history).segments) {
      for (const history::Block& block : segment.blocks) {
        bytes += block.state == BlockState::Allocated ? block.requested : 0;
      }
    }
    return bytes;
  }
};
TIDEMARK_FOR_EVERY_GUEST(Recording);

TEST_P(Recording, FromTheStartHasTheFirstAllocation) {
  Guest guest{recorded()};
  const int first = guest.alloc(1000);
  guest.free(first);

  const history::History found = history();

  EXPECT_EQ(actions(found),
            (std::vector{Action::SegmentAlloc, Action::Alloc, Action::FreeRequested, Action::FreeCompleted}));
  EXPECT_EQ(the_device(found).events.at(1).requested, 1000U);
  EXPECT_EQ(what_is_wrong(found), "");
}

TEST_P(Recording, BeginsAndEndsInAProgramThatDoesNothing) {
  Guest guest{shimmed()};
  guest.alloc(1000);
  EXPECT_EQ(world_.process(guest.pid()).at("recording"), nullptr);

  const Outcome begun = record("start", guest, {"--max-entries", "500", "--stacks", "none"});

  EXPECT_EQ(begun.exit_code, 0) << describe(begun);
  EXPECT_THAT(begun.out, HasSubstr("records its last 500 events"));
  const nlohmann::json recording = world_.process(guest.pid()).at("recording");
  EXPECT_EQ(recording.at("enabled"), "all");
  EXPECT_EQ(recording.at("stacks"), "none");
  EXPECT_EQ(recording.at("max_entries"), 500);
  EXPECT_GT(recording.at("since"), 0);
  EXPECT_EQ(recording.at("lost"), 0);
  EXPECT_TRUE(has_history());

  const Outcome ended = record("stop", guest);

  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_EQ(world_.process(guest.pid()).at("recording"), nullptr);
  EXPECT_FALSE(has_history());
}

TEST_P(Recording, BegunAnewSaysThatTheHistorySoFarIsGone) {
  Guest guest{recorded()};
  guest.alloc(1000);

  const Outcome same = record("start", guest);
  const Outcome other = record("start", guest, {"--stacks", "none", "--max-entries", "1k"});

  EXPECT_EQ(same.exit_code, 0) << describe(same);
  EXPECT_EQ(same.err, "");
  EXPECT_EQ(other.exit_code, 0) << describe(other);
  EXPECT_THAT(other.out, HasSubstr("records its last 1,000 events"));
  EXPECT_THAT(other.err, HasSubstr("the recording was begun anew; what it had recorded since "));
  EXPECT_THAT(other.err, HasSubstr(" (all, stacks all) is gone\n"));
  EXPECT_TRUE(actions(history()).empty());
}

TEST_P(Recording, BegunLaterKnowsWhichBlocksAreOlder) {
  Guest guest{shimmed()};
  guest.alloc(3000);
  ASSERT_EQ(record("start", guest).exit_code, 0);
  guest.alloc(70000);

  const history::History found = history();

  EXPECT_EQ(what_is_wrong(found), "");
  std::set<std::pair<std::uint64_t, bool>> used;
  for (const history::Segment& segment : the_device(found).segments) {
    for (const history::Block& block : segment.blocks) {
      if (block.state == BlockState::Allocated) {
        used.emplace(block.requested, block.is_older);
      }
    }
  }
  EXPECT_EQ(used, (std::set<std::pair<std::uint64_t, bool>>{{3000, true}, {70000, false}}));
}

TEST_P(Recording, OfTheStateAloneKeepsBlocksAndNoEvents) {
  Guest guest{recorded("state")};
  guest.alloc(1000);
  guest.free(guest.alloc(5000));

  const history::History found = history();

  EXPECT_TRUE(the_device(found).events.empty());
  EXPECT_EQ(in_use(found), 1000U);
  EXPECT_EQ(world_.process(guest.pid()).at("recording").at("enabled"), "state");
}

TEST_P(Recording, IsSoundWhereSeveralThreadsAllocate) {
  Guest guest{recorded()};
  ASSERT_EQ(guest.ask("threads 4 2000 3000"), "0");

  const history::History live = history();
  const history::History asked = snapshot(true);

  EXPECT_EQ(what_is_wrong(live), "");
  EXPECT_EQ(what_is_wrong(asked), "");
  EXPECT_GE(the_device(asked).events_ever, 4U * 2000 * 3);
}

TEST_P(Recording, OfASnapshotThatWasAskedForIsOfOneMoment) {
  Guest guest{recorded()};
  guest.alloc(1000);
  ASSERT_EQ(guest.ask("churn 2"), "running");

  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(what_is_wrong(snapshot(true)), "");
  }

  EXPECT_EQ(guest.ask(""), "0");
}

TEST_P(Recording, WithoutOneASnapshotHasBlocksAndCounters) {
  Guest guest{shimmed()};
  guest.alloc(1000);
  guest.alloc(3 * kMiB);

  const history::History found = snapshot(false);

  EXPECT_EQ(what_is_wrong(found), "");
  EXPECT_EQ(found.recording.enabled, history::Enabled::Off);
  EXPECT_EQ(in_use(found), 1000U + 3 * kMiB);
  EXPECT_TRUE(the_device(found).events.empty());
  ASSERT_TRUE(the_device(found).basis.has_value());
  const DeviceBasis& basis = *the_device(found).basis;
  EXPECT_EQ(basis[BasisWord::small_requested_bytes] + basis[BasisWord::large_requested_bytes], 1000U + 3 * kMiB);
}

TEST_P(Recording, OfAKilledProcessIsWhole) {
  for (std::uint64_t round = 0; round < 4; ++round) {
    const ShimWorld world;
    Launch launch = world.under_shim({GetParam().program});
    launch.environment["TIDEMARK_RECORD"] = "all";
    launch.environment["TIDEMARK_RECORD_MAX_ENTRIES"] = "300";
    Guest guest{launch};
    guest.alloc(1000);
    ASSERT_EQ(guest.ask("churn 2"), "running");
    const std::string directories[] = {world.directory()};
    segment::SegmentListing found = segment::list_segments(directories);
    ASSERT_EQ(found.segments.size(), 1U);
    const auto reader = history::HistoryReader::beside(found.segments[0].reader);
    ASSERT_TRUE(reader.ok());
    while (reader.value().recording().lost < 100 * (round + 1)) {
      ASSERT_TRUE(found.segments[0].reader.is_owner_alive());
    }

    static_cast<void>(guest.end_by(SIGKILL));

    const history::History history = reader.value().read().value();
    EXPECT_EQ(what_is_wrong(history), "");
    EXPECT_EQ(the_device(history).events.size(), 300U);
    EXPECT_EQ(world.tidemark({"gc", "--older-than", "0s"}).exit_code, 0);
    EXPECT_TRUE(world.files().empty());
  }
}

TEST_P(Recording, GoesWithItsProcess) {
  {
    Guest guest{recorded()};
    guest.alloc(1000);
    EXPECT_EQ(world_.files().size(), 3U);
    EXPECT_EQ(guest.finish().exit_code, 0);
  }

  EXPECT_TRUE(world_.files().empty());
}

TEST_P(Recording, IsTheChildsOwnAfterAFork) {
  if (GetParam().backend == "cuda") {
    GTEST_SKIP() << "a child of a program that has used CUDA can't";
  }
  Guest guest{recorded()};
  guest.alloc(1000);
  const std::vector<std::string> before = world_.files();
  ASSERT_THAT(guest.ask("fork"), HasSubstr("child"));
  guest.alloc(2000);

  EXPECT_EQ(world_.files().size(), 2 * before.size());

  const std::string directories[] = {world_.directory()};
  for (const segment::FoundSegment& found : segment::list_segments(directories).segments) {
    const auto reader = history::HistoryReader::beside(found.reader);
    ASSERT_TRUE(reader.ok());
    const history::History history = reader.value().read().value();
    EXPECT_EQ(what_is_wrong(history), "");
    EXPECT_EQ(history.recording.pid, found.reader.identity().pid);
    EXPECT_EQ(actions(history), (std::vector{Action::SegmentAlloc, Action::Alloc}));
  }
}

TEST_P(Recording, ThatCannotBeHadIsRefusedInOneLine) {
  Launch launch = recorded();
  launch.environment["TIDEMARK_RECORD_MAX_ENTRIES"] = std::to_string(history::kMostEntries);
  Guest guest{launch};
  guest.alloc(1000);

  EXPECT_FALSE(has_history());
  EXPECT_EQ(world_.process(guest.pid()).at("recording"), nullptr);
  const Outcome asked = record("start", guest, {"--max-entries", std::to_string(history::kMostEntries)});
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_THAT(asked.err, HasSubstr("more than its share of the free space"));

  const Outcome ended = guest.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("tidemark: no memory history: it would take more than its share"));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST_P(Recording, GoesOnWhereAnotherOneIsRefused) {
  Guest guest{recorded()};
  guest.alloc(1000);

  EXPECT_EQ(record("start", guest, {"--max-entries", std::to_string(history::kMostEntries)}).exit_code, 1);

  guest.alloc(2000);
  EXPECT_EQ(in_use(history()), 3000U);
}

TEST_P(Recording, WithWrongValuesSaysWhatIsAllowed) {
  Launch launch = recorded("everything");
  launch.environment["TIDEMARK_RECORD_MAX_ENTRIES"] = "many";
  Guest guest{launch};
  guest.alloc(1000);

  EXPECT_FALSE(has_history());
  const Outcome ended = guest.finish();
  EXPECT_THAT(ended.err, HasSubstr("TIDEMARK_RECORD=everything is not one of off, state, all; off is used"));
  EXPECT_THAT(ended.err, HasSubstr("TIDEMARK_RECORD_MAX_ENTRIES=many is not a number from 1 to 1073741824"));
}

TEST_P(Recording, NeedsASegmentWithAName) {
  Launch launch = recorded();
  launch.environment["TIDEMARK_SHM"] = "memfd";
  Guest guest{launch};
  guest.alloc(1000);

  EXPECT_TRUE(world_.files().empty());
  EXPECT_THAT(guest.finish().err, HasSubstr("no memory history: there is no segment with a name"));
}

// TIDEMARK_SHM has nothing to do with it.
TEST_P(Recording, WithoutASegmentBlamesTheDirectoryThatItWasToBeIn) {
  Launch launch = recorded();
  launch.environment["TIDEMARK_DIR"] = world_.directory() + "/none";
  Guest guest{launch};
  guest.alloc(1000);

  const std::string said = guest.finish().err;
  EXPECT_THAT(said, HasSubstr("no memory history: there is no segment to put it beside; none could be made "
                              "(TIDEMARK_DIR)"));
  EXPECT_EQ(said.find("TIDEMARK_SHM"), std::string::npos) << said;
}

TEST_P(Recording, TakesASnapshotAtEachOutOfMemoryUpToFive) {
  Launch launch = recorded();
  launch.environment["TIDEMARK_SNAPSHOT_ON_OOM"] = world_.directory() + "/oom-%n.tmsnap";
  launch.environment["TIDEMARK_LABEL"] = "by night";
  launch.environment[GetParam().memory_knob] = std::to_string(64 * kMiB);
  Guest guest{launch};
  guest.alloc(1000);

  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(guest.ask("alloc 1073741824"), "error 2");
  }

  for (int i = 1; i <= 5; ++i) {
    const auto reader = history::HistoryReader::open(world_.directory() + "/oom-" + std::to_string(i) + ".tmsnap");
    ASSERT_TRUE(reader.ok()) << i;
    const history::History history = reader.value().read().value();
    EXPECT_EQ(history.recording.reason, history::Reason::OutOfMemory);
    EXPECT_EQ(history.recording.label, "by night") << "whose it is";
    EXPECT_FALSE(history.recording.command.empty());
    EXPECT_EQ(what_is_wrong(history), "");
    EXPECT_EQ(in_use(history), 1000U);
    EXPECT_EQ(the_device(history).events.back().action, Action::OutOfMemory);
    EXPECT_EQ(the_device(history).events.back().requested, 1024 * kMiB);
  }
  const Outcome told = world_.tidemark({"report", world_.directory() + "/oom-1.tmsnap"});
  EXPECT_THAT(told.out, testing::StartsWith("by night: "));
  EXPECT_NE(::access((world_.directory() + "/oom-6.tmsnap").c_str(), F_OK), 0);
  const Outcome ended = guest.finish();
  EXPECT_THAT(ended.err, HasSubstr("what was where is in " + world_.directory() + "/oom-1.tmsnap"));
  for (const std::string& name : world_.files()) {
    std::filesystem::remove(world_.directory() + "/" + name);
  }
}

}  // namespace
}  // namespace tidemark::test
