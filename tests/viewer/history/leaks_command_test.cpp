// `tidemark leaks`: what it asks of the process, what it says, and that the recording is afterwards what it was before.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "shared/segment/own_identity.hpp"
#include "tests/viewer/history/snapshot_world.hpp"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

class LeaksCommand : public SnapshotWorld {
 protected:
  // What the process will say when it is asked for the first and the second time: 2 blocks of the loader's, then 3. The
  // second is of a recording that began so much later.
  void lay_ready(const FakeProcess& process, std::uint64_t later_ns = 0) const {
    // Later than anything that happens here: what the middle has was born after the beginning.
    const std::uint64_t soon = segment::clock_ns(CLOCK_REALTIME) + 60'000'000'000;
    SampleMemory memory;
    memory.add_segment(64 * kSampleMiB, false);
    for (int i = 1; i <= 3; ++i) {
      memory.allocate(kSampleMiB, 1);
      viewer::MemorySnapshot sample;
      sample.recording.kind = history::Kind::Snapshot;
      sample.recording.enabled = history::Enabled::State;
      sample.recording.stacks = history::Stacks::All;
      sample.devices.push_back(memory.device());
      sample.devices[0].events.clear();
      sample.devices[0].events_ever = 0;
      const std::uint64_t shift = soon - kSampleStart;
      sample.recording.since_ns = soon + (i == 3 ? later_ns : 0);
      sample.recording.taken_ns = memory.now_ns() + shift;
      for (history::Segment& segment : sample.devices[0].segments) {
        segment.birth_ns = *segment.birth_ns + shift;
        for (history::Block& block : segment.blocks) {
          block.birth_ns = block.birth_ns ? std::optional{*block.birth_ns + shift} : std::nullopt;
        }
      }
      sample.stacks = sample_stacks();
      if (i > 1) {
        save_history(path("fake." + std::to_string(i - 1) + ".tmsnap"), sample, nonce_of(process));
      }
    }
    save_live(path("fake.hist"), process, soon);
  }
  // A history of the process's that began then.
  static void save_live(const std::string& file, const FakeProcess& process, std::uint64_t since_ns) {
    viewer::MemorySnapshot sample;
    sample.recording.kind = history::Kind::Live;
    sample.recording.enabled = history::Enabled::State;
    sample.recording.stacks = history::Stacks::All;
    sample.recording.since_ns = since_ns;
    sample.stacks.emplace_back();
    fs::remove(file);
    save_history(file, sample, nonce_of(process));
  }
  [[nodiscard]] static std::string history_of(const FakeProcess& process) { return process.path() + ".hist"; }
};

// A `leaks` that has begun to watch, and goes on.
class Watching {
 public:
  explicit Watching(const Launch& launch) : process_(launch, in_.fd(), out_.fd(), err_.fd()) {
    while (err_.text().find("watching") == std::string::npos && !process_.has_ended()) {
      std::this_thread::yield();
    }
  }

  void signal(int number) const { process_.signal(number); }
  Outcome wait() {
    Outcome outcome = process_.wait();
    outcome.out = out_.text();
    outcome.err = err_.text();
    return outcome;
  }

 private:
  const ScratchFile in_;
  const ScratchFile out_;
  const ScratchFile err_;
  Process process_;
};

TEST_F(LeaksCommand, RecordsMeanwhileAndTellsWhatGrewAndStayed) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  lay_ready(process);

  const Outcome leaks = tidemark({"leaks", process.pid(), "--for", "200ms"});

  EXPECT_EQ(leaks.exit_code, 0) << describe(leaks);
  EXPECT_EQ(
      leaks.out,
      "cuda:0  held 2.000 MiB -> 3.000 MiB in the second half\n"
      "  grew and stayed\n"
      "    +1.000 MiB, +1 block: 2 blocks of 2.000 MiB from the first half still there; holds 3.000 MiB in 3 blocks\n"
      "        load(batch const&) (loader.cpp:12)\n"
      "        main (train.cpp:40)\n");
  EXPECT_THAT(leaks.err, HasSubstr("watching process " + process.pid() + " for 1 s; it records meanwhile"));
  EXPECT_EQ(text("fake.log"), "record start 1 3 0\nsnapshot 1 0 0\nsnapshot 1 0 0\nrecord stop 0 0 0\n");
  EXPECT_FALSE(fs::exists(history_of(process)));
}

TEST_F(LeaksCommand, ForScriptsTellsTheSame) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  lay_ready(process);

  const json leaks = json::parse(tidemark({"leaks", process.pid(), "--for", "0.1", "--json"}).out);

  EXPECT_EQ(leaks["devices"][0]["grew"][0]["grew_bytes"], kSampleMiB);
  EXPECT_EQ(leaks["devices"][0]["grew"][0]["frames"][0]["name"], "load(batch const&)");
}

TEST_F(LeaksCommand, LeavesARecordingThatWasOnAsItIs) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  lay_ready(process);
  fs::copy_file(path("fake.hist"), history_of(process));

  const Outcome leaks = tidemark({"leaks", process.pid(), "--for", "0.1"});

  EXPECT_EQ(leaks.exit_code, 0) << describe(leaks);
  EXPECT_EQ(text("fake.log"), "snapshot 1 0 0\nsnapshot 1 0 0\n");
  EXPECT_TRUE(fs::exists(history_of(process)));
}

TEST_F(LeaksCommand, GivesTheRecordingBackAtCtrlC) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (const char* name : {"fake.log", "fake.1.tmsnap", "fake.2.tmsnap"}) {
      fs::remove(path(name));
    }
    const FakeProcess process(world_, {"history=" + path("fake")});
    lay_ready(process);
    Watching leaks(launch({"leaks", process.pid(), "--for", "1h"}));
    ASSERT_TRUE(fs::exists(history_of(process)));

    leaks.signal(signal);
    const Outcome ended = leaks.wait();

    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr("interrupted: too short to tell what stays"));
    EXPECT_EQ(text("fake.log"), "record start 1 3 0\nrecord stop 0 0 0\n");
    EXPECT_FALSE(fs::exists(history_of(process)));
  }
}

TEST_F(LeaksCommand, GivesTheRecordingBackWhereNoSnapshotCanBeHad) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  write("fake.hist", "");

  const Outcome leaks = tidemark({"leaks", process.pid(), "--for", "0.1"});

  EXPECT_EQ(leaks.exit_code, 1) << describe(leaks);
  EXPECT_THAT(leaks.err, HasSubstr("there is no such file"));
  EXPECT_THAT(text("fake.log"), HasSubstr("record stop"));
  EXPECT_FALSE(fs::exists(history_of(process)));
}

// Two moments of two recordings have nothing in common: no growth would be found, whatever there was.
TEST_F(LeaksCommand, FailsWhereTheRecordingWasBegunAnewMeanwhile) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  lay_ready(process, 1'000'000);

  const Outcome leaks = tidemark({"leaks", process.pid(), "--for", "0.1"});

  EXPECT_EQ(leaks.exit_code, 1) << describe(leaks);
  EXPECT_THAT(leaks.out, IsEmpty());
  EXPECT_THAT(leaks.err, HasSubstr("the recording of process " + process.pid() +
                                   " was begun anew meanwhile, by somebody else: what grew is not known; run leaks "
                                   "again\n"));
}

TEST_F(LeaksCommand, FailsWhereTheRecordingWasStoppedMeanwhile) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  lay_ready(process);
  viewer::MemorySnapshot unrecorded = sample_snapshot();
  unrecorded.recording.enabled = history::Enabled::Off;
  unrecorded.devices[0].events.clear();
  fs::remove(path("fake.2.tmsnap"));
  save_history(path("fake.2.tmsnap"), unrecorded, nonce_of(process));

  const Outcome leaks = tidemark({"leaks", process.pid(), "--for", "0.1"});

  EXPECT_EQ(leaks.exit_code, 1) << describe(leaks);
  EXPECT_THAT(leaks.out, IsEmpty());
  EXPECT_THAT(leaks.err, HasSubstr("was stopped meanwhile"));
}

TEST_F(LeaksCommand, LeavesARecordingAloneThatOthersBeganMeanwhile) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  lay_ready(process);
  Watching leaks(launch({"leaks", process.pid(), "--for", "1h"}));
  save_live(history_of(process), process, segment::clock_ns(CLOCK_REALTIME));

  leaks.signal(SIGINT);
  static_cast<void>(leaks.wait());

  EXPECT_EQ(text("fake.log"), "record start 1 3 0\n");
  EXPECT_TRUE(fs::exists(history_of(process)));
}

TEST_F(LeaksCommand, SaysWhyAProcessCannotBeWatched) {
  const FakeProcess closed(world_, {"policy=off"});
  FakeProcess dead(world_);
  dead.kill();

  const Outcome refused = tidemark({"leaks", closed.pid()});
  const Outcome late = tidemark({"leaks", dead.id()});

  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("cannot be made to record: the process takes no requests (TIDEMARK_CONTROL=off)"));
  EXPECT_EQ(late.exit_code, 3);
  EXPECT_THAT(late.err, HasSubstr("is dead (killed): nothing grows there; 'tidemark report " + dead.id() +
                                  "' tells what it held"));
  EXPECT_EQ(tidemark({"leaks", closed.pid(), "--for", "soon"}).exit_code, 2);
  EXPECT_EQ(tidemark({"leaks", closed.pid(), "--for", "0"}).exit_code, 2);
  EXPECT_EQ(tidemark({"leaks"}).exit_code, 2);
}

TEST_F(LeaksCommand, EndsWithTheProcess) {
  FakeProcess process(world_, {"history=" + path("fake")});
  lay_ready(process);
  Watching leaks(launch({"leaks", process.pid(), "--for", "1h"}));

  process.kill();
  const Outcome ended = leaks.wait();

  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("ended before it could be told what stays"));
  EXPECT_THAT(ended.out, IsEmpty());
}

}  // namespace
}  // namespace tidemark::test
