// What doctor finds out about real processes, programs and this machine.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

using Codes = std::vector<std::string>;

struct Diagnosis {
  int exit_code = -1;
  nlohmann::json document;

  // Of those that are no mere notes and not fine.
  [[nodiscard]] Codes problems() const {
    Codes codes;
    for (const nlohmann::json& finding : document["findings"]) {
      if (finding["level"] == "problem") codes.push_back(finding["code"]);
    }
    return codes;
  }
  [[nodiscard]] bool has(const std::string& code) const {
    return std::ranges::any_of(document["findings"], [&](const auto& finding) { return finding["code"] == code; });
  }
};

class Doctor : public GuestTest {
 protected:
  static Diagnosis read(const Outcome& outcome) {
    Diagnosis diagnosis{.exit_code = outcome.exit_code, .document = nlohmann::json::parse(outcome.out, nullptr, false)};
    EXPECT_TRUE(diagnosis.document.is_object()) << describe(outcome);
    EXPECT_EQ(diagnosis.exit_code, diagnosis.document["problems"] == 0 ? 0 : 1) << describe(outcome);
    return diagnosis;
  }
  [[nodiscard]] Diagnosis of(std::vector<std::string> words) const {
    words.insert(words.begin(), {"doctor", "--json"});
    return read(world_.tidemark(std::move(words)));
  }
  [[nodiscard]] Diagnosis of(const Guest& guest) const { return of({std::to_string(guest.pid())}); }
  [[nodiscard]] Codes problems_with(const std::string& variable, const std::string& value) const {
    Launch launch = shimmed();
    launch.environment[variable] = value;
    Guest guest{launch};
    guest.alloc(1000);
    return of(guest).problems();
  }
};
TIDEMARK_FOR_EVERY_GUEST(Doctor);

TEST_P(Doctor, FindsNothingWrongWithAProcessThatIsTracked) {
  Guest guest{shimmed()};
  guest.alloc(1000);

  const Diagnosis diagnosis = of(guest);

  EXPECT_EQ(diagnosis.problems(), Codes{});
  EXPECT_EQ(diagnosis.document["kind"], "process");
  EXPECT_EQ(diagnosis.document["pid"], guest.pid());
  for (const char* code : {"library", "driver", "segment", "mode", "accounted"})
    EXPECT_TRUE(diagnosis.has(code)) << code;
}

TEST_P(Doctor, SaysThatNothingWasAllocatedYet) {
  const Guest guest{shimmed()};

  const Diagnosis diagnosis = of(guest);

  EXPECT_EQ(diagnosis.problems(), Codes{});
  EXPECT_TRUE(diagnosis.has("not-met") || diagnosis.has("no-allocation")) << diagnosis.document;
}

TEST_P(Doctor, SaysThatAProcessWasStartedWithoutTheLibrary) {
  Guest guest{native()};
  guest.alloc(1000);

  EXPECT_EQ(of(guest).problems(), Codes{"not-preloaded"});
}

TEST_P(Doctor, SaysThatThePreloadedLibraryIsNotThere) {
  Launch launch = native();
  launch.environment["LD_PRELOAD"] = "/nowhere/libtidemark.so";
  const Guest guest{launch};

  EXPECT_EQ(of(guest).problems(), Codes{"no-such-library"});
}

TEST_P(Doctor, SaysWhichSettingKeepsAProcessOutOfSight) {
  EXPECT_EQ(problems_with("TIDEMARK_MODE", "off"), Codes{"mode-off"});
  EXPECT_EQ(problems_with("TIDEMARK_SHM", "off"), Codes{"shm-off"});
  EXPECT_EQ(problems_with("TIDEMARK_DIR", world_.directory() + "/nowhere"), Codes{"directory"});
  EXPECT_EQ(problems_with("TIDEMARK_SKIP", std::filesystem::path{GetParam().program}.filename()), Codes{"skipped"});
}

TEST_P(Doctor, SaysWhereElseASegmentIs) {
  const ShimWorld other;
  Launch launch = shimmed();
  launch.environment["TIDEMARK_DIR"] = other.directory();
  Guest guest{launch};
  guest.alloc(1000);

  EXPECT_EQ(of(guest).problems(), Codes{"elsewhere"});
  EXPECT_EQ(of({std::to_string(guest.pid()), "--dir", other.directory()}).problems(), Codes{});
}

TEST_P(Doctor, SaysThatAProcessOnlyCountsOrTakesNoRequests) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_MODE"] = "count";
  launch.environment["TIDEMARK_CONTROL"] = "off";
  launch.environment["TIDEMARK_THREAD"] = "off";
  Guest guest{launch};
  guest.alloc(1000);

  const Diagnosis diagnosis = of(guest);

  EXPECT_EQ(diagnosis.problems(), Codes{});
  EXPECT_TRUE(diagnosis.has("mode"));
  EXPECT_TRUE(diagnosis.has("control-off"));
  EXPECT_TRUE(diagnosis.has("no-thread"));
}

TEST_P(Doctor, SaysThatAControlFileIsGone) {
  Guest guest{shimmed()};
  guest.alloc(1000);
  for (const std::string& file : world_.files()) {
    if (file.ends_with(".ctl")) std::filesystem::remove(world_.directory() + "/" + file);
  }

  EXPECT_EQ(of(guest).problems(), Codes{"control-closed"});
}

TEST_P(Doctor, SaysThatAProcessIsStopped) {
  Guest guest{shimmed()};
  guest.alloc(1000);
  guest.signal(SIGSTOP);
  while (world_.process(guest.pid())["state"] != "stopped") {
  }

  const Diagnosis diagnosis = of(guest);
  guest.signal(SIGCONT);

  EXPECT_TRUE(diagnosis.has("stopped"));
}

TEST_P(Doctor, ReadsTheLastWordsOfAProcessThatEnded) {
  Launch launch = shimmed();
  launch.environment["TIDEMARK_KEEP"] = "all";
  Guest guest{launch};
  guest.alloc(1000);
  const std::string pid = std::to_string(guest.pid());
  ASSERT_EQ(guest.finish().exit_code, 0);

  const Diagnosis diagnosis = of({pid});

  EXPECT_EQ(diagnosis.problems(), Codes{});
  EXPECT_TRUE(diagnosis.has("ended"));
  EXPECT_TRUE(of({}).has("leftovers"));
}

class DoctorOfThisMachine : public Doctor {};
INSTANTIATE_TEST_SUITE_P(On, DoctorOfThisMachine, testing::Values(guest_kinds().front()), name_of);

TEST_P(DoctorOfThisMachine, IsReady) {
  const Diagnosis diagnosis = of({});

  EXPECT_EQ(diagnosis.problems(), Codes{});
  EXPECT_EQ(diagnosis.document["kind"], "machine");
  for (const char* code : {"library", "directory", "simulator", "processes"}) EXPECT_TRUE(diagnosis.has(code)) << code;
}

TEST_P(DoctorOfThisMachine, CountsTheProcessesThatHaveTheLibrary) {
  Guest published{shimmed()};
  published.alloc(1000);
  const Guest waiting{shimmed()};

  const Diagnosis diagnosis = of({});

  EXPECT_TRUE(diagnosis.has("waiting"));
  EXPECT_NE(diagnosis.document.dump().find("1 process publishes its counters"), std::string::npos);
}

TEST_P(DoctorOfThisMachine, HasNoPlaceForSegments) {
  Launch launch = world_.viewer({"doctor", "--json"});
  launch.environment["TIDEMARK_DIR"] = world_.directory() + "/nowhere";
  EXPECT_EQ(read(run(launch)).problems(), Codes{"directory"});

  launch.environment["TIDEMARK_DIR"] = "somewhere";
  EXPECT_EQ(read(run(launch)).problems(), Codes{"directory"});
}

TEST_P(DoctorOfThisMachine, LimitsTheSizeOfFiles) {
  Launch launch = world_.viewer({"doctor", "--json"});
  launch.command.insert(launch.command.begin(), {"/bin/sh", "-c", "ulimit -f 8; exec \"$0\" \"$@\""});

  EXPECT_EQ(read(run(launch)).problems(), Codes{"file-size-limit"});
}

TEST_P(DoctorOfThisMachine, LooksAtAProgramBeforeItStarts) {
  const Diagnosis fine = of({"--", GetParam().program, "--json"});
  EXPECT_EQ(fine.problems(), Codes{}) << "its own options are the program's";
  EXPECT_EQ(fine.document["kind"], "program");
  EXPECT_TRUE(fine.has("linked"));

  EXPECT_EQ(of({"--", test_program("viewer_static_program")}).problems(), Codes{"static"});
  EXPECT_EQ(of({"--", "/nowhere/program"}).problems(), Codes{"no-such-program"});
  EXPECT_EQ(of({"--", preload_library().substr(0, preload_library().rfind('/'))}).problems(), Codes{"not-executable"});
}

// Its owner is another user, so that running it changes who it is.
TEST_P(DoctorOfThisMachine, SaysThatAProgramIsPrivileged) {
  const std::string program = world_.directory() + "/cat";
  std::filesystem::copy_file("/bin/cat", program);
  struct statvfs system {};
  if (geteuid() != 0 || chown(program.c_str(), 65534, 0) != 0 || chmod(program.c_str(), 04755) != 0 ||
      statvfs(program.c_str(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0) {
    GTEST_SKIP() << "needs root, and a file system without nosuid";
  }
  ASSERT_EQ(chmod(world_.directory().c_str(), 0755), 0);
  Conversation running{world_.under_shim({program})};
  ASSERT_EQ(running.ask("are you there?"), "are you there?");

  EXPECT_EQ(of({"--", program}).problems(), Codes{"privileged"});
  EXPECT_EQ(of({std::to_string(running.pid())}).problems(), Codes{"privileged"});
}

TEST_P(DoctorOfThisMachine, ToldNonsenseSaysSo) {
  EXPECT_EQ(world_.tidemark({"doctor", "no-such-label"}).exit_code, 3);
  EXPECT_EQ(world_.tidemark({"doctor", "999999999"}).exit_code, 3);
  EXPECT_EQ(world_.tidemark({"doctor", "1", "2"}).exit_code, 2);
  EXPECT_EQ(world_.tidemark({"doctor", "1", "--", "ls"}).exit_code, 2);
  EXPECT_EQ(world_.tidemark({"doctor", "--"}).exit_code, 2);
}

#ifdef TIDEMARK_TEST_CUDA
TEST_P(DoctorOfThisMachine, NamesWhatIsNotAccountedForAndWhoElseInterposes) {
  Launch launch = world_.under_shim({std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/cuda_unaccounted"});
  launch.preload.push_back(test_program("lenient_cuda.so"));
  Conversation program{launch};
  for (std::string line = "?"; line != "held" && !line.empty();) line = program.read_line();

  const Diagnosis diagnosis = of({std::to_string(program.pid())});

  EXPECT_EQ(diagnosis.problems(), (Codes{"interposer", "unaccounted"}));
  EXPECT_TRUE(diagnosis.has("export-tables"));
  EXPECT_EQ(program.finish().exit_code, 0);
}

TEST_P(DoctorOfThisMachine, SaysWhereNobodyCountsOtherKinds) {
  Launch launch = world_.under_shim({std::string{TIDEMARK_TEST_PROGRAMS_UNCHANGED} + "/cuda_bare_exit_holding"});
  launch.environment["TIDEMARK_KEEP"] = "all";
  run(launch);

  EXPECT_TRUE(of({world_.ps()["processes"][0]["id"]}).has("kinds-unknown"));
}
#endif

}  // namespace
}  // namespace tidemark::test
