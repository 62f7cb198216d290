// `tidemark snapshot`, of files and of processes, and what it says when there is none to be had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/viewer/history/snapshot_world.hpp"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class SnapshotCommand : public SnapshotWorld {
 protected:
  [[nodiscard]] Outcome snapshot(std::vector<std::string> words) const {
    words.insert(words.begin(), "snapshot");
    return tidemark(std::move(words));
  }
  // What the checker says, which knows nothing of us.
  [[nodiscard]] Outcome check(const std::string& name) const {
    return run({.command = {"python3", "-B", TIDEMARK_TEST_CHECK_SNAPSHOT, path(name)}});
  }
};

TEST_F(SnapshotCommand, TurnsASavedOneIntoPickleAndJson) {
  save_history(path("a.tmsnap"), sample_snapshot());

  const Outcome pickle = snapshot({path("a.tmsnap"), "-o", path("a.pickle")});
  const Outcome document = snapshot({path("a.tmsnap"), "-o", path("a.json")});

  EXPECT_EQ(pickle.exit_code, 0) << describe(pickle);
  EXPECT_THAT(pickle.out, AllOf(StartsWith(path("a.pickle")), HasSubstr(": 5 blocks in use, 11 events (")));
  EXPECT_THAT(pickle.err, IsEmpty());
  EXPECT_EQ(document.exit_code, 0) << describe(document);
  EXPECT_THAT(check("a.pickle").out, HasSubstr(": 11 events, 8 blocks"));
  EXPECT_THAT(check("a.json").out, HasSubstr(": 11 events, 8 blocks"));
  EXPECT_EQ(json::parse(text("a.json"))["segments"][0]["blocks"][1]["frames"][0]["name"], "forward(int)");
}

TEST_F(SnapshotCommand, GoesBackAndForthBetweenItsOwnFormats) {
  save_history(path("a.tmsnap"), sample_snapshot());

  ASSERT_EQ(snapshot({path("a.tmsnap"), "-o", path("a.pickle")}).exit_code, 0);
  ASSERT_EQ(snapshot({path("a.pickle"), "-o", path("b.json")}).exit_code, 0);
  ASSERT_EQ(snapshot({path("b.json"), "-o", path("c.pickle")}).exit_code, 0);

  EXPECT_EQ(read_file(path("a.pickle")), read_file(path("c.pickle")));
}

TEST_F(SnapshotCommand, OfAnyRunPassesTheChecker) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    SampleMemory memory{segment::Backend::Mtia, 1};
    run_at_random(memory, seed, 4000, 2);
    viewer::MemorySnapshot sample;
    sample.recording.kind = history::Kind::Snapshot;
    sample.recording.enabled = history::Enabled::All;
    sample.devices.push_back(memory.device());
    sample.stacks = sample_stacks();
    const std::string name = std::to_string(seed);
    save_history(path(name + ".tmsnap"), sample);

    ASSERT_EQ(snapshot({path(name + ".tmsnap"), "-o", path(name + ".pickle")}).exit_code, 0);

    const Outcome checked = check(name + ".pickle");
    EXPECT_EQ(checked.exit_code, 0) << describe(checked);
    EXPECT_THAT(checked.out, HasSubstr(std::to_string(memory.device().events.size()) + " events"));
  }
}

TEST_F(SnapshotCommand, OfARingThatHasOverflownPassesTheChecker) {
  SampleMemory memory;
  run_at_random(memory, 9, 3000, 2);
  viewer::MemorySnapshot sample;
  sample.recording.kind = history::Kind::Snapshot;
  sample.recording.enabled = history::Enabled::All;
  sample.devices.push_back(memory.device());
  std::vector<history::Event>& events = sample.devices[0].events;
  events.erase(events.begin(), events.end() - 700);
  sample.stacks = sample_stacks();
  save_history(path("a.tmsnap"), sample);

  ASSERT_EQ(snapshot({path("a.tmsnap"), "-o", path("a.pickle")}).exit_code, 0);

  EXPECT_THAT(check("a.pickle").out, HasSubstr(": 700 events"));
}

TEST_F(SnapshotCommand, AsksALivingProcessAndLeavesNothingWithIt) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  save_history(path("fake.1.tmsnap"), sample_snapshot(), nonce_of(process));
  const auto before = world_.files();

  const Outcome done = snapshot({process.pid()});

  EXPECT_EQ(done.exit_code, 0) << describe(done);
  EXPECT_THAT(done.out, MatchesRegex("tidemark-" + process.pid() + "-[0-9]{8}-[0-9]{6}\\.pickle: 5 blocks.*\n"));
  EXPECT_THAT(done.err, IsEmpty());
  EXPECT_EQ(world_.files(), before);
  EXPECT_EQ(check(done.out.substr(0, done.out.find(':'))).exit_code, 0);
}

TEST_F(SnapshotCommand, OfAProcessThatDoesNotRecordSaysSoAndHowToRecord) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  viewer::MemorySnapshot sample = sample_snapshot();
  sample.recording.enabled = history::Enabled::Off;
  sample.recording.stacks = history::Stacks::None;
  sample.devices[0].events.clear();
  save_history(path("fake.1.tmsnap"), sample, nonce_of(process));

  const Outcome done = snapshot({process.pid(), "-o", path("a.json")});

  EXPECT_EQ(done.exit_code, 0) << describe(done);
  EXPECT_THAT(done.out, HasSubstr("5 blocks in use, 0 events"));
  EXPECT_THAT(done.err, HasSubstr("doesn't record: blocks, sizes and ages alone, no stacks and no events; to have them "
                                  "next time: tidemark record start " +
                                  process.pid()));
}

TEST_F(SnapshotCommand, OfAProcessThatRefusesReadsWhatItRecords) {
  const FakeProcess process(world_, {"policy=off"});
  viewer::MemorySnapshot sample = sample_snapshot();
  sample.recording.kind = history::Kind::Live;
  save_history(process.path() + ".hist", sample, nonce_of(process));

  const Outcome done = snapshot({process.id(), "-o", path("a.pickle")});

  EXPECT_EQ(done.exit_code, 0) << describe(done);
  EXPECT_THAT(done.err,
              HasSubstr("made no copy (the process takes no requests (TIDEMARK_CONTROL=off)): its history was "
                        "read while it went on"));
  EXPECT_EQ(check("a.pickle").exit_code, 0);
}

// Nobody waits for an answer that cannot come.
TEST_F(SnapshotCommand, OfAStoppedProcessAsksNothingAndReadsWhatItRecords) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  viewer::MemorySnapshot sample = sample_snapshot();
  sample.recording.kind = history::Kind::Live;
  save_history(process.path() + ".hist", sample, nonce_of(process));
  process.stop();

  const Outcome done = snapshot({process.pid(), "-o", path("a.pickle")});

  EXPECT_EQ(done.exit_code, 0) << describe(done);
  EXPECT_THAT(done.err,
              AllOf(HasSubstr("process " + process.pid() + " is stopped: its history was read from outside\n"),
                    Not(HasSubstr("while it went on"))));
  EXPECT_FALSE(fs::exists(path("fake.log")));
}

TEST_F(SnapshotCommand, OfAStoppedProcessWithoutHistoryFailsAtOnce) {
  const FakeProcess process(world_, {"history=" + path("fake")});
  process.stop();

  const Outcome failed = snapshot({process.pid()});
  const Outcome leaks = tidemark({"leaks", process.pid()});

  EXPECT_EQ(failed.exit_code, 6) << describe(failed);
  EXPECT_EQ(failed.err, "tidemark: process " + process.pid() +
                            " is stopped and can make no snapshot, and it has no history that could be read; to let "
                            "it go on: kill -CONT " +
                            process.pid() + "\n");
  EXPECT_EQ(leaks.exit_code, 6);
  EXPECT_THAT(leaks.err, HasSubstr("is stopped: nothing grows there"));
  EXPECT_FALSE(fs::exists(path("fake.log")));
}

TEST_F(SnapshotCommand, OfAProcessWithoutHistoryThatRefusesFailsWithWhatToType) {
  const FakeProcess process(world_, {"policy=off"});

  const Outcome failed = snapshot({process.pid()});

  EXPECT_EQ(failed.exit_code, 4) << describe(failed);
  EXPECT_THAT(failed.err, HasSubstr("has no history that could be read, and made no snapshot (the process takes no "
                                    "requests (TIDEMARK_CONTROL=off)); to record: tidemark record start " +
                                    process.pid()));
  EXPECT_THAT(failed.out, IsEmpty());
}

TEST_F(SnapshotCommand, OfAKilledProcessTellsWhatItsHistoryHasAndThatItIsDead) {
  FakeProcess process(world_);
  viewer::MemorySnapshot sample = sample_snapshot();
  sample.recording.kind = history::Kind::Live;
  save_history(process.path() + ".hist", sample, nonce_of(process));
  process.kill();

  const Outcome done = snapshot({process.id(), "-o", path("a.pickle")});

  EXPECT_EQ(done.exit_code, 0) << describe(done);
  EXPECT_THAT(done.err, HasSubstr("is dead (killed): this is what its history tells up to its last event"));
  EXPECT_THAT(check("a.pickle").out, HasSubstr("11 events"));
}

TEST_F(SnapshotCommand, OfAKilledProcessThatDidNotRecordSaysSo) {
  FakeProcess process(world_);
  process.kill();

  const Outcome failed = snapshot({process.id()});

  EXPECT_EQ(failed.exit_code, 1) << describe(failed);
  EXPECT_THAT(failed.err,
              HasSubstr("is dead (killed) and left no history: nothing was recorded when it ended; its last numbers: "
                        "tidemark show " +
                        process.id() + "; start it with: tidemark run --record -- CMD"));
}

// Somebody else's file beside a segment is not the process's history.
TEST_F(SnapshotCommand, TakesNoHistoryOfAnotherProcess) {
  FakeProcess process(world_);
  save_history(process.path() + ".hist", sample_snapshot(), nonce_of(process) + 1);
  process.kill();

  EXPECT_THAT(snapshot({process.id()}).err, HasSubstr("left no history"));
}

TEST_F(SnapshotCommand, WritesALogForRmmsReplayInWhichEveryFreeHasItsAllocation) {
  save_history(path("a.tmsnap"), sample_snapshot());

  const Outcome done = tidemark({"snapshot", path("a.tmsnap"), "-o", path("a.csv")});

  EXPECT_EQ(done.exit_code, 0) << describe(done);
  EXPECT_EQ(done.out, path("a.csv") + ": 9 calls of cuda:0\n");
  EXPECT_EQ(text("a.csv"),
            "Thread,Time,Action,Pointer,Size,Stream\n"
            "4711,14:14:20:003000,allocate,0x7f0000000000,512,0\n"
            "4711,14:14:20:004000,allocate,0x7f0000200000,3145728,0\n"
            "4711,14:14:20:005000,allocate,0x7f0000000200,1048576,0\n"
            "4711,14:14:20:006000,allocate,0x7f0000100200,300000,0\n"
            "4711,14:14:30:007000,allocate,0x7f0000149600,600,0\n"
            "4711,14:14:30:008000,allocate,0x7f0000149a00,2000,0\n"
            "4711,14:14:30:009000,free,0x7f0000100200,300000,0\n"
            "4711,14:14:30:012000,free,0x7f0000149a00,2000,0\n"
            "4711,14:14:30:013000,allocate failure,0x0,104857600,0\n");
}

TEST_F(SnapshotCommand, WantsOneDeviceNamedForALog) {
  viewer::MemorySnapshot sample = sample_snapshot();
  sample.devices.push_back(SampleMemory{segment::Backend::Mtia, 0}.device());
  save_history(path("a.tmsnap"), sample);

  const Outcome refused = snapshot({path("a.tmsnap"), "-o", path("a.csv")});

  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err, "tidemark: snapshot: a .csv is of one device; allowed: --device cuda:0, mtia:0\n");
  EXPECT_EQ(snapshot({path("a.tmsnap"), "-o", path("a.csv"), "-d", "mtia:1"}).exit_code, 3);
  EXPECT_THAT(snapshot({path("a.tmsnap"), "-o", path("a.csv"), "-d", "mtia:0"}).out, EndsWith(": 0 calls of mtia:0\n"));
}

TEST_F(SnapshotCommand, OverwritesNothingUnlessTold) {
  save_history(path("a.tmsnap"), sample_snapshot());
  const std::string there = write("a.pickle", "mine");

  const Outcome refused = snapshot({path("a.tmsnap"), "-o", there});

  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.err, "tidemark: " + there + " exists; -f overwrites it, -o writes elsewhere\n");
  EXPECT_EQ(read_file(there).size(), 4U);
  EXPECT_EQ(snapshot({path("a.tmsnap"), "-f", "-o", there}).exit_code, 0);
  EXPECT_EQ(check("a.pickle").exit_code, 0);
  EXPECT_EQ(files_.entries().size(), 2U);
}

TEST_F(SnapshotCommand, NamesWhatIsWrongWithAPlaceToWriteTo) {
  save_history(path("a.tmsnap"), sample_snapshot());
  fs::create_directory(path("folder.json"));
  ASSERT_EQ(mkfifo(path("pipe.json").c_str(), 0600), 0);

  EXPECT_THAT(snapshot({path("a.tmsnap"), "-f", "-o", path("folder.json")}).err,
              EndsWith("is a directory; name a file in it\n"));
  EXPECT_THAT(snapshot({path("a.tmsnap"), "-f", "-o", path("pipe.json")}).err,
              EndsWith("is no ordinary file; name another\n"));
  EXPECT_THAT(snapshot({path("a.tmsnap"), "-o", path("none/a.json")}).err, HasSubstr("No such file or directory"));
  const Outcome usage = snapshot({path("a.tmsnap"), "-o", path("a.txt")});
  EXPECT_EQ(usage.exit_code, 2);
  EXPECT_THAT(usage.err, HasSubstr("allowed: a name that ends in .pickle (for memory_viz), "));
  EXPECT_EQ(snapshot({path("a.tmsnap"), "-o", ""}).exit_code, 2);
}

// A terminal would do what it says.
TEST_F(SnapshotCommand, SaysNoNameOfAFileAsItIs) {
  save_history(path("a.tmsnap"), sample_snapshot());
  const std::string name = path("we\nird\x1b[2J.pickle");
  const std::string said = path("we ird [2J.pickle");

  EXPECT_THAT(snapshot({path("a.tmsnap"), "-o", name}).out, StartsWith(said + ": 5 blocks in use"));
  EXPECT_THAT(snapshot({path("a.tmsnap"), "-o", name}).err, StartsWith("tidemark: " + said + " exists;"));
  EXPECT_THAT(tidemark({"report", path("a.tmsnap"), "--html", path("we\nird")}).out,
              StartsWith(path("we ird") + ": open"));
}

TEST_F(SnapshotCommand, LeavesNoHalfFileOnAFullDisk) {
  if (!is_root()) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  SampleMemory memory;
  run_at_random(memory, 3, 20'000);
  viewer::MemorySnapshot sample;
  sample.recording.kind = history::Kind::Snapshot;
  sample.devices.push_back(memory.device());
  sample.stacks.emplace_back();
  save_history(path("a.tmsnap"), sample);
  const std::string disk = path("disk");
  fs::create_directory(disk);
  if (mount("tidemark-test", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "this root may not mount";
  }

  const Outcome failed = snapshot({path("a.tmsnap"), "-o", disk + "/a.pickle"});
  const bool is_empty = fs::is_empty(disk);
  umount(disk.c_str());

  EXPECT_EQ(failed.exit_code, 1) << describe(failed);
  EXPECT_EQ(failed.err, "tidemark: cannot write " + disk + "/a.pickle: No space left on device\n");
  EXPECT_TRUE(is_empty);
}

// A sanitizer wants terabytes of addresses for itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kInLittleMemory = "exec \"$@\"";
#else
constexpr const char* kInLittleMemory = "ulimit -v 1000000 && exec \"$@\"";
#endif

// As much memory would be taken as the file has, before it was seen that it is none.
TEST_F(SnapshotCommand, ReadsNoMoreOfAFileThanItTakesToSeeThatItIsNone) {
  for (const std::string name : {"zeros.pickle", "large.json"}) {
    write(name, name == "large.json" ? "{" : "");
    fs::resize_file(path(name), std::uint64_t{5} << 30);
  }
  Launch zeros = launch({"snapshot", path("zeros.pickle")});
  Launch large = launch({"snapshot", path("large.json")});
  for (Launch* each : {&zeros, &large}) {
    each->command.insert(each->command.begin(), {"/bin/sh", "-c", kInLittleMemory, "sh"});
  }

  const Outcome no_snapshot = run(zeros);
  const Outcome too_large = run(large);

  EXPECT_EQ(no_snapshot.exit_code, 1) << describe(no_snapshot);
  EXPECT_THAT(no_snapshot.err, HasSubstr("is no snapshot; allowed:"));
  EXPECT_EQ(too_large.exit_code, 1) << describe(too_large);
  EXPECT_THAT(too_large.err, HasSubstr("large.json has 5.000 GiB; a .pickle or .json may have at most 4.000 GiB\n"));
}

TEST_F(SnapshotCommand, NamesWhatIsWrongWithAFile) {
  save_history(path("a.tmsnap"), sample_snapshot());
  ASSERT_EQ(snapshot({path("a.tmsnap"), "-o", path("a.pickle")}).exit_code, 0);
  ASSERT_EQ(snapshot({path("a.tmsnap"), "-o", path("a.json")}).exit_code, 0);
  for (const std::string name : {"a.pickle", "a.json"}) {
    fs::copy_file(path(name), path("cut-" + name));
    fs::resize_file(path("cut-" + name), fs::file_size(path(name)) / 2);
  }
  fs::copy_file(path("a.tmsnap"), path("cut.tmsnap"));
  fs::resize_file(path("cut.tmsnap"), 4096);

  EXPECT_THAT(snapshot({path("none.pickle")}).err, HasSubstr("none.pickle: No such file or directory"));
  EXPECT_EQ(snapshot({path("none.pickle")}).exit_code, 3);
  EXPECT_THAT(snapshot({files_.path()}).err,
              HasSubstr("is a directory; allowed: a .tmsnap, or a snapshot as .pickle or .json"));
  EXPECT_THAT(snapshot({write("empty.pickle", "")}).err, HasSubstr("is empty; allowed:"));
  EXPECT_THAT(snapshot({write("words.pickle", "some words")}).err, HasSubstr("is no snapshot; allowed:"));
  EXPECT_THAT(snapshot({write("other.json", "{\"schema\": 1}")}).err,
              HasSubstr("is no snapshot: it has no list of segments"));
  EXPECT_THAT(snapshot({path("cut-a.pickle")}).err, HasSubstr("ends in the middle; it was cut short"));
  EXPECT_THAT(snapshot({path("cut-a.json")}).err, HasSubstr("is no whole JSON document"));
  EXPECT_THAT(snapshot({path("cut.tmsnap")}).err, HasSubstr("no snapshot of tidemark, or only a part of one"));
  EXPECT_THAT(snapshot({write("evil.pickle",
                              "\x80\x02"
                              "cposix\nsystem\nX\x04")})
                  .err,
              HasSubstr("could run code"));
  EXPECT_EQ(snapshot({path("cut-a.pickle")}).exit_code, 1);
  EXPECT_EQ(snapshot({"nobody"}).exit_code, 3);
}

}  // namespace
}  // namespace tidemark::test
