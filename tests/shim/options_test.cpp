// Reading the TIDEMARK_* variables.
#include "shim/runtime/options.hpp"

#include <gtest/gtest.h>

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

TEST(Options, SayWhichVariableHasNoEffectYet) {
  const Read got = read({"TIDEMARK_REPORT=stderr"});

  ASSERT_EQ(got.warnings.count(), 1);
  EXPECT_STREQ(got.warnings.line(0), "TIDEMARK_REPORT has no effect in this version");
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

}  // namespace
}  // namespace tidemark::runtime
