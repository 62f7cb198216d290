// Reading the TIDEMARK_* variables.
#include "shim/runtime/options.hpp"
#include "shim/runtime/settings_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tidemark::runtime {
namespace {

struct Read {
  Options options;
  OptionWarnings warnings;
};

Read read(const std::vector<const char*>& variables) {
  std::vector<const char*> environment = variables;
  environment.push_back(nullptr);
  Read result;
  result.options = read_options(environment.data(), result.warnings);
  return result;
}

TEST(Options, AreTheDefaultsWithoutAVariable) {
  const Read got = read({"HOME=/root", "TIDEMARKER=1"});

  EXPECT_EQ(got.options.mode, Mode::Cache);
  EXPECT_EQ(got.options.free, Free::Strict);
  EXPECT_EQ(got.options.segment, SegmentKind::Named);
  EXPECT_EQ(got.options.keep, Keep::Auto);
  EXPECT_EQ(got.options.control, Control::Full);
  EXPECT_TRUE(got.options.has_thread);
  EXPECT_TRUE(got.options.label.empty());
  EXPECT_EQ(got.warnings.count(), 0);
}

TEST(Options, TakeEveryValueOfTheInterface) {
  const Read got = read({"TIDEMARK_MODE=count", "TIDEMARK_FREE=fast", "TIDEMARK_FILL=poison", "TIDEMARK_SHM=memfd",
                         "TIDEMARK_ACCESS=group", "TIDEMARK_KEEP=all", "TIDEMARK_CONTROL=peaks", "TIDEMARK_THREAD=0",
                         "TIDEMARK_LOG=debug", "TIDEMARK_LABEL=job 7", "TIDEMARK_DIR=/tmp/x", "TIDEMARK_LIMIT=8GiB"});

  EXPECT_EQ(got.options.mode, Mode::Count);
  EXPECT_EQ(got.options.free, Free::Fast);
  EXPECT_EQ(got.options.fill, Fill::Poison);
  EXPECT_EQ(got.options.segment, SegmentKind::Memfd);
  EXPECT_EQ(got.options.access, Access::Group);
  EXPECT_EQ(got.options.keep, Keep::All);
  EXPECT_EQ(got.options.control, Control::Peaks);
  EXPECT_FALSE(got.options.has_thread);
  EXPECT_EQ(got.options.log, LogLevel::Debug);
  EXPECT_EQ(got.options.label.view(), "job 7");
  EXPECT_EQ(got.options.directory.view(), "/tmp/x");
  EXPECT_EQ(got.options.limit.view(), "8GiB");
  EXPECT_EQ(got.warnings.count(), 0);
}

TEST(Options, FallBackToTheDefaultAndSaySoForABadValue) {
  const Read got = read({"TIDEMARK_MODE=cahce"});

  EXPECT_EQ(got.options.mode, Mode::Cache);
  ASSERT_EQ(got.warnings.count(), 1);
  EXPECT_STREQ(got.warnings.line(0), "TIDEMARK_MODE=cahce is not one of cache, count, off; cache is used");
}

TEST(Options, NameTheNearestVariableForAnUnknownOne) {
  const Read got = read({"TIDEMARK_LABLE=x"});

  ASSERT_EQ(got.warnings.count(), 1);
  EXPECT_STREQ(got.warnings.line(0), "TIDEMARK_LABLE is not a variable of Tidemark; did you mean TIDEMARK_LABEL?");
}

TEST(Options, AreSilentOnWhatWatchTellsItsCommand) {
  const Read got = read({"TIDEMARK_EVENT=oom", "TIDEMARK_PID=4711", "TIDEMARK_FREE_BYTES="});

  EXPECT_EQ(got.warnings.count(), 0);
  EXPECT_EQ(nearest_variable("TIDEMARK_EVNT").find("EVENT"), std::string_view::npos);
}

TEST(Options, ReportOnStderrOrIntoAFile) {
  EXPECT_TRUE(read({}).options.report.empty());
  EXPECT_TRUE(read({"TIDEMARK_REPORT=off"}).options.report.empty());
  EXPECT_EQ(read({"TIDEMARK_REPORT=1"}).options.report.view(), "stderr");
  EXPECT_EQ(read({"TIDEMARK_REPORT=/tmp/%p"}).options.report.view(), "/tmp/%p");
}

TEST(Options, MayBeForOneProcess) {
  EXPECT_EQ(read({}).options.only_pid, 0u);
  EXPECT_EQ(read({"TIDEMARK_ONLY_PID=4711"}).options.only_pid, 4711u);

  for (const char* wrong : {"TIDEMARK_ONLY_PID=", "TIDEMARK_ONLY_PID=0", "TIDEMARK_ONLY_PID=-1",
                            "TIDEMARK_ONLY_PID=4711x", "TIDEMARK_ONLY_PID=99999999999999999999"}) {
    const Read got = read({wrong});
    EXPECT_EQ(got.options.only_pid, 0u) << wrong;
    EXPECT_EQ(got.warnings.count(), 1) << wrong;
  }
  EXPECT_STREQ(read({"TIDEMARK_ONLY_PID=me"}).warnings.line(0),
               "TIDEMARK_ONLY_PID=me is not the number of a process; all are tracked");
}

TEST(Options, IgnoreATextThatIsTooLong) {
  const std::string entry = "TIDEMARK_DIR=/" + std::string(600, 'x');

  const Read got = read({entry.c_str()});

  EXPECT_TRUE(got.options.directory.empty());
  ASSERT_EQ(got.warnings.count(), 1);
  EXPECT_STREQ(got.warnings.line(0), "TIDEMARK_DIR is too long and ignored");
}

TEST(Options, KeepACopyOfTheEnvironment) {
  std::string entry = "TIDEMARK_LABEL=before";

  const Read got = read({entry.c_str()});
  entry.assign("TIDEMARK_LABEL=behind");

  EXPECT_EQ(got.options.label.view(), "before");
}

TEST(Options, CountWarningsThatDoNotFit) {
  const std::vector<const char*> variables(20, "TIDEMARK_MODE=x");

  Read got = read(variables);

  EXPECT_EQ(got.warnings.count(), 8);
  testing::internal::CaptureStderr();
  got.warnings.say();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("12 more settings of TIDEMARK_* are wrong"), std::string::npos);
}

TEST(Options, TakeNoMoreWarningsOnceTold) {
  OptionWarnings warnings;
  warnings.add("first");
  warnings.take_no_more();

  warnings.add("second");

  EXPECT_EQ(warnings.count(), 1);
}

TEST(NameList, HoldsWholeNamesOnly) {
  EXPECT_TRUE(is_in_list("bash,python3", "python3"));
  EXPECT_TRUE(is_in_list("bash", "bash"));
  EXPECT_FALSE(is_in_list("bash,python3", "python"));
  EXPECT_FALSE(is_in_list("", ""));
  EXPECT_FALSE(is_in_list("", "bash"));
}

TEST(Log, WritesOneLineCutToItsLength) {
  testing::internal::CaptureStderr();
  log_line(LogLevel::Warn, "%s", std::string(1000, 'x').c_str());

  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(line.starts_with("tidemark: xxx"));
  EXPECT_TRUE(line.ends_with("x\n"));
  EXPECT_LE(line.size(), 412u);
}

TEST(Log, IsSilentBelowItsLevel) {
  testing::internal::CaptureStderr();
  log_line(LogLevel::Info, "not said by default");

  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

std::string listed(const Options& options) {
  SettingsText text;
  std::string list{list_settings(options, text)};
  std::replace(list.begin(), list.end(), '\0', '|');
  return list;
}

TEST(Options, SayHowManyEventsAHistoryMayHave) {
  EXPECT_EQ(read({"TIDEMARK_RECORD_MAX_ENTRIES=1"}).options.record_max_entries, 1U);
  for (const char* wrong :
       {"TIDEMARK_RECORD_MAX_ENTRIES=0", "TIDEMARK_RECORD_MAX_ENTRIES=-1",
        "TIDEMARK_RECORD_MAX_ENTRIES=", "TIDEMARK_RECORD_MAX_ENTRIES=12k", "TIDEMARK_RECORD_MAX_ENTRIES=1073741825"}) {
    const Read got = read({wrong});
    EXPECT_EQ(got.options.record_max_entries, history::kDefaultEntries) << wrong;
    EXPECT_EQ(got.warnings.count(), 1) << wrong;
  }
}

TEST(Options, AreListedAsTheyAreInEffect) {
  EXPECT_EQ(listed(read({}).options),
            "mode|cache|free|strict|alloc_conf||limit||label||shm|named|dir|/dev/shm|access|owner|keep|auto|"
            "control|full|thread|on|fill|none|skip||only_pid||record|off|record_stacks|all|record_max_entries|150000|"
            "snapshot_on_oom||"
            "report|off|run_id||");
  EXPECT_EQ(listed(read({"TIDEMARK_MODE=count",         "TIDEMARK_FREE=fast",         "TIDEMARK_ALLOC_CONF=large:split",
                         "TIDEMARK_LIMIT=8GiB",         "TIDEMARK_LABEL=eval",        "TIDEMARK_SHM=memfd",
                         "TIDEMARK_DIR=/tmp",           "TIDEMARK_ACCESS=all",        "TIDEMARK_KEEP=none",
                         "TIDEMARK_CONTROL=peaks",      "TIDEMARK_THREAD=off",        "TIDEMARK_FILL=zero",
                         "TIDEMARK_SKIP=git",           "TIDEMARK_RECORD=state",      "TIDEMARK_RECORD_MAX_ENTRIES=500",
                         "TIDEMARK_SNAPSHOT_ON_OOM=%n", "TIDEMARK_RECORD_STACKS=cpp", "TIDEMARK_REPORT=/tmp/%p",
                         "TIDEMARK_ONLY_PID=7",         "TIDEMARK_RUN_ID=a1b2"})
                       .options),
            "mode|count|free|fast|alloc_conf|large:split|limit|8GiB|label|eval|shm|memfd|dir|/tmp|access|all|keep|none|"
            "control|peaks|thread|off|fill|zero|skip|git|only_pid|7|record|state|record_stacks|cpp|record_max_entries|"
            "500|snapshot_on_oom|%n|"
            "report|/tmp/%p|run_id|a1b2|");
}

}  // namespace
}  // namespace tidemark::runtime
