// Three lines when a program ends, for whoever asked for them and nobody else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class ExitReport : public GuestTest {
 protected:
  [[nodiscard]] Launch reporting(const std::string& where) const {
    Launch launch = shimmed();
    launch.environment["TIDEMARK_REPORT"] = where;
    return launch;
  }
  static long lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }
  static std::string content_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
};
TIDEMARK_FOR_EVERY_GUEST(ExitReport);

TEST_P(ExitReport, SaysWhatIsLeft) {
  Guest guest{reporting("stderr")};
  guest.alloc(3 * kMiB);
  guest.free(guest.alloc(1000));
  guest.free(guest.alloc(1000));

  const Outcome ended = guest.finish();

  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(lines_of(ended.err), 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("tidemark: " + GetParam().device() + " peak "));
  EXPECT_THAT(ended.err, HasSubstr("left at exit (1 block)"));
  EXPECT_THAT(ended.err, HasSubstr("33.3 % of 3 allocations from the cache"));
  EXPECT_THAT(ended.err, HasSubstr("next: tidemark run --record --keep all -- "));
}

TEST_P(ExitReport, IsNotThereUnlessAskedFor) {
  for (const char* where : {"", "off", "0"}) {
    Guest guest{*where == '\0' ? shimmed() : reporting(where)};
    guest.alloc(1000);
    EXPECT_EQ(guest.finish().err, "") << where;
  }
}

TEST_P(ExitReport, GoesToAFileOfEachProcess) {
  Guest guest{reporting(world_.directory() + "/report-%p.txt")};
  guest.alloc(1000);
  const std::string path = world_.directory() + "/report-" + std::to_string(guest.pid()) + ".txt";

  EXPECT_EQ(guest.finish().err, "");

  EXPECT_EQ(lines_of(content_of(path)), 3);
  std::filesystem::remove(path);
}

TEST_P(ExitReport, SaysWhyItCouldNotBeWritten) {
  Guest guest{reporting("/nowhere/at/all")};
  guest.alloc(1000);

  const Outcome ended = guest.finish();

  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "tidemark: no report in /nowhere/at/all: No such file or directory\n");
}

TEST_P(ExitReport, TellsOfOutOfMemory) {
  Launch launch = reporting("stderr");
  launch.environment[GetParam().memory_knob] = std::to_string(64 * kMiB);
  Guest guest{launch};
  guest.alloc(1000);
  guest.ask("alloc 1073741824");

  EXPECT_THAT(guest.finish().err, HasSubstr("--snapshot-on-oom '/tmp/%e-%p-%n.tmsnap' -- "));
}

TEST_P(ExitReport, NamesARecordingThatIsKept) {
  Launch launch = reporting("stderr");
  launch.environment["TIDEMARK_RECORD"] = "all";
  launch.environment["TIDEMARK_KEEP"] = "all";
  Guest guest{launch};
  guest.alloc(1000);
  const std::string pid = std::to_string(guest.pid());

  EXPECT_THAT(guest.finish().err, HasSubstr("next: tidemark report " + pid + " "));
  EXPECT_EQ(world_.tidemark({"report", pid}).exit_code, 0);
}

TEST_P(ExitReport, ComesFromRunAsWell) {
  Launch launch = world_.viewer({"run", "--report", "--", GetParam().program});
  launch.environment["LD_LIBRARY_PATH"] = simulator_directory();
  Guest guest{launch};
  guest.alloc(1000);

  EXPECT_EQ(lines_of(guest.finish().err), 3);
}

// What others read stays the program's own, also where run itself sits on a terminal.
TEST_P(ExitReport, ForATerminalAloneIsNotWrittenIntoAFile) {
  Guest guest{reporting("terminal")};
  guest.alloc(1000);

  EXPECT_EQ(guest.finish().err, "");
}

TEST_P(ExitReport, EndsNoProgramThatNobodyListensTo) {
  const std::string command = "(" + GetParam().program + " <<< $'alloc 1000' 2>&1 >/dev/null; echo $? > '" +
                              world_.directory() + "/code') | true";
  Launch launch = world_.under_shim({"/bin/bash", "-c", command});
  launch.environment["TIDEMARK_REPORT"] = "stderr";
  EXPECT_EQ(run(launch).exit_code, 0);

  EXPECT_EQ(content_of(world_.directory() + "/code"), "0\n");
  std::filesystem::remove(world_.directory() + "/code");
}

TEST_P(ExitReport, WaitsForNoReaderOfAPipe) {
  const std::string path = world_.directory() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Guest guest{reporting(path)};
  guest.alloc(1000);

  const Outcome ended = guest.finish();

  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("tidemark: no report in " + path));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tidemark::test
