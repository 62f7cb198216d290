// `tidemark report` and `tidemark diff`, of files and of processes.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "tests/viewer/history/snapshot_world.hpp"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using ReportCommand = SnapshotWorld;
using DiffCommand = SnapshotWorld;

// The sample of a process that doesn't record.
viewer::MemorySnapshot unrecorded() {
  viewer::MemorySnapshot sample = sample_snapshot();
  sample.recording.enabled = history::Enabled::Off;
  sample.recording.stacks = history::Stacks::None;
  sample.devices[0].events.clear();
  sample.devices[0].events_ever = 0;
  for (history::Segment& segment : sample.devices[0].segments) {
    segment.stack = 0;
    for (history::Block& block : segment.blocks) {
      block.stack = 0;
    }
  }
  sample.stacks.resize(1);
  return sample;
}

// A program of that name in PATH?
bool has_program(const char* name) {
  std::istringstream directories{std::getenv("PATH") == nullptr ? "" : std::getenv("PATH")};
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (fs::exists(fs::path{directory} / name)) {
      return true;
    }
  }
  return false;
}

TEST_F(ReportCommand, SaysTheSameOfEveryFormOfASnapshot) {
  save_history(path("a.tmsnap"), sample_snapshot());
  ASSERT_EQ(tidemark({"snapshot", path("a.tmsnap"), "-o", path("a.pickle")}).exit_code, 0);
  ASSERT_EQ(tidemark({"snapshot", path("a.tmsnap"), "-o", path("a.json")}).exit_code, 0);

  const Outcome report = tidemark({"report", path("a.tmsnap")});

  EXPECT_EQ(report.exit_code, 0) << describe(report);
  EXPECT_THAT(report.err, IsEmpty());
  EXPECT_THAT(report.out,
              AllOf(HasSubstr("held  4.001 MiB in 4 blocks"), HasSubstr("load(batch const&) (loader.cpp:12)")));
  EXPECT_EQ(tidemark({"report", path("a.pickle")}).out, report.out);
  EXPECT_EQ(tidemark({"report", path("a.json")}).out, report.out);
}

// Whoever reads a stack without names shall know why it has none.
TEST_F(ReportCommand, NamesTheFilesThatNoNamesCanBeHadFrom) {
  save_history(path("a.tmsnap"), sample_snapshot(), 7, "/nowhere/libmodel.so");
  FakeProcess process(world_, {"history=" + path("fake")});
  save_history(path("fake.1.tmsnap"), sample_snapshot(), nonce_of(process), "/nowhere/libmodel.so");
  const std::string line = "/nowhere/libmodel.so is not there any more: no names from it\n";

  EXPECT_THAT(tidemark({"report", path("a.tmsnap")}).err, HasSubstr(line));
  EXPECT_THAT(tidemark({"diff", path("a.tmsnap"), path("a.tmsnap")}).err, HasSubstr(line));
  EXPECT_THAT(tidemark({"snapshot", path("a.tmsnap"), "-o", path("a.json")}).err, HasSubstr(line));
  EXPECT_THAT(tidemark({"report", process.pid()}).err, HasSubstr(line));
}

TEST_F(ReportCommand, OfALivingProcessTellsWhatItHoldsNow) {
  const FakeProcess process(world_, {"history=" + path("fake"), "label=eval"});
  save_history(path("fake.1.tmsnap"), sample_snapshot(), nonce_of(process));

  const Outcome report = tidemark({"report", "eval", "--json"});

  EXPECT_EQ(report.exit_code, 0) << describe(report);
  const json document = json::parse(report.out);
  EXPECT_EQ(document["title"], "eval: fake");
  EXPECT_EQ(document["id"], process.id());
  EXPECT_EQ(std::to_string(document["pid"].get<int>()), process.pid());
  EXPECT_EQ(document["devices"][0]["held"]["blocks"], 4);
}

TEST_F(ReportCommand, OfAKilledProcessTellsWhatWasHeldAtItsEnd) {
  FakeProcess process(world_);
  viewer::MemorySnapshot sample = sample_snapshot();
  sample.recording.kind = history::Kind::Live;
  save_history(process.path() + ".hist", sample, nonce_of(process));
  process.kill();

  const Outcome report = tidemark({"report", process.id()});

  EXPECT_EQ(report.exit_code, 0) << describe(report);
  EXPECT_THAT(report.out, HasSubstr("held at its end  4.001 MiB in 4 blocks"));
  EXPECT_THAT(report.err, HasSubstr("is dead (killed)"));
}

TEST_F(ReportCommand, WritesStacksForFlameGraphs) {
  save_history(path("a.tmsnap"), sample_snapshot());

  EXPECT_THAT(tidemark({"report", path("a.tmsnap"), "--folded"}).out, StartsWith("main;load(batch const&) 3145728\n"));
}

// One line with everything is no graph.
TEST_F(ReportCommand, FoldsNoStacksWhereNoneWereRecorded) {
  save_history(path("a.tmsnap"), unrecorded());

  const Outcome folded = tidemark({"report", path("a.tmsnap"), "--folded"});

  EXPECT_EQ(folded.exit_code, 1) << describe(folded);
  EXPECT_THAT(folded.out, IsEmpty());
  EXPECT_THAT(folded.err, HasSubstr("a.tmsnap: no stacks were recorded, so there are none to fold"));
  EXPECT_THAT(tidemark({"report", path("a.tmsnap")}).out, HasSubstr("  by stack: no stacks were recorded; "));
}

TEST_F(ReportCommand, WritesAPageToStdoutAlone) {
  save_history(path("a.tmsnap"), sample_snapshot());

  const Outcome page = tidemark({"report", path("a.tmsnap"), "--html", "-"});
  const Outcome file = tidemark({"report", path("a.tmsnap"), "--html", path("a.html")});

  EXPECT_EQ(page.exit_code, 0) << describe(page);
  EXPECT_EQ(page.out, text("a.html"));
  EXPECT_EQ(file.out, path("a.html") + ": open it in a browser\n");
  EXPECT_FALSE(fs::exists(path("-")));
  EXPECT_EQ(tidemark({"report", path("a.tmsnap"), "--html", ""}).exit_code, 2);
}

// A word without a path is a process's name first.
TEST_F(ReportCommand, SaysOfAWordThatIsNeitherWhatBothLack) {
  write("train", "a script");
  save_history(path("eval"), sample_snapshot());
  const FakeProcess process(world_, {"label=eval", "history=" + path("fake")});
  viewer::MemorySnapshot other = sample_snapshot();
  other.devices[0].info.name = "The process's";
  save_history(path("fake.1.tmsnap"), other, nonce_of(process));
  fs::create_directory(path("folder"));

  const Outcome neither = tidemark({"report", "train"});

  EXPECT_EQ(neither.exit_code, 1);
  EXPECT_THAT(neither.err,
              HasSubstr("no process 'train', and of the file of that name: train is no snapshot; allowed:"));
  EXPECT_THAT(tidemark({"report", "eval"}).out, HasSubstr("The process's"));
  EXPECT_THAT(tidemark({"report", "./eval"}).out, HasSubstr("Sample device"));
  EXPECT_THAT(tidemark({"report", "folder"}).err, HasSubstr("no process 'folder' (a pid, an id or a label)"));
  for (const std::string word : {"train", "./eval", "none.pickle"}) {
    const Outcome leaks = tidemark({"leaks", word});
    EXPECT_EQ(leaks.exit_code, 2) << describe(leaks);
    EXPECT_THAT(leaks.err, HasSubstr("'" + word + "' is a file, and nothing grows in one; two of them: tidemark diff"));
  }
}

TEST_F(ReportCommand, WritesAPageThatShowsTheNumbersOfTheText) {
  if (!has_program("node")) {
    GTEST_SKIP() << "no node that could run the page's script";
  }
  save_history(path("a.tmsnap"), sample_snapshot());

  const Outcome done = tidemark({"report", path("a.tmsnap"), "--html", path("a.html")});

  ASSERT_EQ(done.exit_code, 0) << describe(done);
  const Outcome page = run({.command = {"node", TIDEMARK_TEST_DRAW_PAGE, path("a.html")}});
  ASSERT_EQ(page.exit_code, 0) << describe(page);
  for (const char* words :
       {"Tidemark: a.tmsnap", "held 4.001 MiB 4 blocks", "requested 4.001 MiB", "pending 2.000 KiB",
        "reserved 6.000 MiB 2 segments", "3.000 MiB 75.0 % 1 15 s load(batch const&) (loader.cpp:12)",
        "1.001 MiB 25.0 % 2", "large 4.000 MiB 3.000 MiB 1.000 MiB 1.000 MiB 1.000 MiB 0 of 1", "highest 4.290 MiB",
        "forward(int)"}) {
    EXPECT_THAT(page.out, HasSubstr(words));
  }
  const Outcome clicked = run({.command = {"node", TIDEMARK_TEST_DRAW_PAGE, path("a.html"), "2"}});
  EXPECT_EQ(clicked.exit_code, 0) << describe(clicked);
}

TEST_F(ReportCommand, WritesAPageThatABrowserOpens) {
  if (!has_program("chromium")) {
    GTEST_SKIP() << "no chromium";
  }
  save_history(path("a.tmsnap"), sample_snapshot());
  ASSERT_EQ(tidemark({"report", path("a.tmsnap"), "--html", path("a.html")}).exit_code, 0);

  const Outcome shown = run({.command = {"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                         "--user-data-dir=" + path("profile"), "file://" + path("a.html")}});

  EXPECT_THAT(shown.out, AllOf(HasSubstr("<b>4.001 MiB</b>"), HasSubstr("load(batch const&amp;) (loader.cpp:12)")));
}

TEST_F(ReportCommand, RefusesWhatItCannotDo) {
  save_history(path("a.tmsnap"), sample_snapshot());
  write("a.html", "mine");

  EXPECT_THAT(tidemark({"report", path("a.tmsnap"), "--html", path("a.html")}).err,
              HasSubstr("a.html exists; -f overwrites it, --html writes elsewhere\n"));
  EXPECT_EQ(text("a.html"), "mine");
  EXPECT_EQ(tidemark({"report", path("a.tmsnap"), "--top", "many"}).exit_code, 2);
  EXPECT_EQ(tidemark({"report", path("a.tmsnap"), "--json", "--folded"}).exit_code, 2);
  EXPECT_EQ(tidemark({"report", "nobody"}).exit_code, 3);
  EXPECT_EQ(tidemark({"report", path("none.tmsnap")}).exit_code, 3);
  EXPECT_EQ(tidemark({"report", write("words.pickle", "some words")}).exit_code, 1);
}

TEST_F(DiffCommand, ComparesTwoSnapshotsOfAnyForm) {
  viewer::MemorySnapshot sample = sample_snapshot();
  save_history(path("old.tmsnap"), sample);
  sample.devices[0].segments[1].blocks[0].state = history::BlockState::Inactive;
  sample.devices[0].segments[1].blocks[0].requested = 0;
  sample.devices[0].segments[1].blocks[0].stack = 0;
  sample.devices[0].events.clear();
  save_history(path("new.tmsnap"), sample);
  ASSERT_EQ(tidemark({"snapshot", path("old.tmsnap"), "-o", path("old.pickle")}).exit_code, 0);

  const Outcome diff = tidemark({"diff", path("old.pickle"), path("new.tmsnap")});

  EXPECT_EQ(diff.exit_code, 0) << describe(diff);
  EXPECT_EQ(diff.out,
            "cuda:0  held 4.001 MiB -> 1.001 MiB (-3.000 MiB, -1 block)\n"
            "  by stack\n"
            "     -3.000 MiB     -1 block  3.000 MiB -> 0 B\n"
            "        load(batch const&) (loader.cpp:12)\n"
            "        main (train.cpp:40)\n");
  EXPECT_THAT(tidemark({"diff", path("old.pickle"), path("new.tmsnap"), "--by", "size"}).out,
              HasSubstr("-3.000 MiB     -1 block  3.000 MiB -> 0 B  in blocks up to 4.000 MiB"));
  EXPECT_EQ(
      json::parse(
          tidemark({"diff", path("old.pickle"), path("new.tmsnap"), "--json"}).out)["devices"][0]["after"]["blocks"],
      3);
}

// By stack everything would be a gain, and everything a loss.
TEST_F(DiffCommand, GoesBySizeWhereOneOfThemHasNoStacks) {
  save_history(path("old.tmsnap"), unrecorded());
  save_history(path("new.tmsnap"), sample_snapshot());

  const Outcome diff = tidemark({"diff", path("old.tmsnap"), path("new.tmsnap")});

  EXPECT_EQ(diff.exit_code, 0) << describe(diff);
  EXPECT_THAT(diff.out, HasSubstr("\n  by size: the same\n"));
  EXPECT_THAT(diff.err, HasSubstr("old.tmsnap: no stacks were recorded; compared by size\n"));
}

TEST_F(DiffCommand, ComparesTheCountersOfTwoLooks) {
  const FakeProcess process(world_);
  write("old.json", tidemark({"show", process.pid(), "--json"}).out);
  ASSERT_EQ(tidemark({"reset-peak", process.pid()}).exit_code, 0);
  write("new.json", tidemark({"show", process.pid(), "--json"}).out);

  const Outcome diff = tidemark({"diff", path("old.json"), path("new.json")});

  EXPECT_EQ(diff.exit_code, 0) << describe(diff);
  EXPECT_THAT(diff.out, HasSubstr("cuda:0  allocated_bytes.all.peak         300.0 MiB  100.0 MiB  -200.0 MiB\n"));
}

TEST_F(DiffCommand, RefusesWhatCannotBeCompared) {
  const FakeProcess process(world_);
  save_history(path("a.tmsnap"), sample_snapshot());
  write("show.json", tidemark({"show", process.pid(), "--json"}).out);

  const Outcome mixed = tidemark({"diff", path("a.tmsnap"), path("show.json")});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err,
              HasSubstr("are of different kinds; allowed: two snapshots, or two documents of 'show --json'"));
  EXPECT_EQ(tidemark({"diff", path("a.tmsnap")}).exit_code, 2);
  EXPECT_EQ(tidemark({"diff", path("a.tmsnap"), path("a.tmsnap"), "--by", "age"}).exit_code, 2);
  EXPECT_THAT(tidemark({"diff", path("a.tmsnap"), write("other.json", "{}")}).err,
              HasSubstr("is neither a snapshot nor a document of 'show --json'"));
}

}  // namespace
}  // namespace tidemark::test
