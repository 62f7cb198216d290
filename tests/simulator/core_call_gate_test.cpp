// Faults, ticks and traces at the door of driver calls.
#include "simulator/core/call_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "simulator/core/scheduler.hpp"

namespace sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<bool> faults(CallGate& gate, const char* name, int calls) {
  std::vector<bool> failed;
  for (int i = 0; i < calls; ++i) failed.push_back(CallScope{gate, name}.injected().has_value());
  return failed;
}

Knobs failing(const char* rules) { return {.fail = *parse_fail_rules(rules)}; }

class TraceFile {
 public:
  TraceFile() { close(mkstemp(path_.data())); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() { unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream file{path_};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::string path_ = testing::TempDir() + "trace.XXXXXX";
};

TEST(CallGate, FailsTheNthCallOnce) {
  CallGate gate{failing("toyMalloc:3"), nullptr};

  EXPECT_THAT(faults(gate, "toyMalloc", 5), ElementsAre(false, false, true, false, false));
}

TEST(CallGate, FailsFromTheNthCallOn) {
  CallGate gate{failing("toyMalloc:3+"), nullptr};

  EXPECT_THAT(faults(gate, "toyMalloc", 5), ElementsAre(false, false, true, true, true));
}

TEST(CallGate, CountsCallsOfOneNameAlone) {
  CallGate gate{failing("toyMalloc:2,toyFree:1"), nullptr};

  EXPECT_THAT(faults(gate, "toyMallocAsync", 3), ElementsAre(false, false, false));
  EXPECT_THAT(faults(gate, "toyFree", 2), ElementsAre(true, false));
  EXPECT_THAT(faults(gate, "toyMalloc", 2), ElementsAre(false, true));
}

TEST(CallGate, LeavesTheCodeToTheFunctionUnlessTheRuleHasOne) {
  CallGate gate{failing("toyMalloc:1,toyFree:1=700"), nullptr};

  const CallScope allocation{gate, "toyMalloc"};
  const CallScope release{gate, "toyFree"};

  ASSERT_TRUE(allocation.injected());
  EXPECT_EQ(allocation.injected()->value_or(2), 2);
  ASSERT_TRUE(release.injected());
  EXPECT_EQ(release.injected()->value_or(2), 700);
}

TEST(CallGate, TicksOnceACall) {
  Scheduler scheduler{ClockMode::Auto, [](Work&) { return true; }};
  CallGate gate{Knobs{}, &scheduler};

  for (int i = 0; i < 5; ++i) EXPECT_EQ((CallScope{gate, "toyQuery"}.done(0)), 0);

  EXPECT_EQ(scheduler.now(), 5);
}

TEST(CallGate, TracesALineACall) {
  const TraceFile file;
  CallGate gate{{.trace = file.path()}, nullptr};

  CallScope first{gate, "toyMalloc"};
  first.note("size=%d", 1000);
  first.note("ptr=%s", "here");
  first.done(0);
  CallScope{gate, "toyFree"}.done(1);

  const std::string who = "0 " + std::to_string(getpid()) + " " + std::to_string(gettid());
  EXPECT_THAT(file.lines(), ElementsAre(who + " toyMalloc size=1000 ptr=here = 0", who + " toyFree = 1"));
}

TEST(CallGate, AppendsToATraceAndCutsWhatIsTooLong) {
  const TraceFile file;
  std::ofstream{file.path()} << "before\n";
  CallGate gate{{.trace = file.path()}, nullptr};

  CallScope call{gate, "toyMalloc"};
  call.note("%s", std::string(1000, 'x').c_str());
  call.note("more");
  call.done(0);

  const auto lines = file.lines();
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0], "before");
  EXPECT_THAT(lines[1], testing::MatchesRegex(".* toyMalloc x+ = 0"));
  EXPECT_LT(lines[1].size(), 320);
}

TEST(CallGate, SaysOnceThatItCannotTrace) {
  testing::internal::CaptureStderr();
  CallGate gate{{.trace = "/no/such/directory/trace"}, nullptr};
  EXPECT_EQ((CallScope{gate, "toyFree"}.done(7)), 7);

  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cannot trace to /no/such/directory/trace"));
}

}  // namespace
}  // namespace sim
