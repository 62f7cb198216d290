// The settings of a simulated driver, good and bad.
#include "simulator/core/knobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Variables = std::map<std::string, std::string>;

// Reads the knobs under these variables, which are gone afterwards; keeps what was said on stderr.
class Reading {
 public:
  explicit Reading(const Variables& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    testing::internal::CaptureStderr();
    knobs = read_knobs("TOY", "MEMORY", {"EXTRA"});
    said = testing::internal::GetCapturedStderr();
    for (const auto& [name, value] : variables) unsetenv(name.c_str());
  }

  Knobs knobs;
  std::string said;
};

TEST(Size, HasBinaryAndDecimalSuffixes) {
  EXPECT_EQ(parse_size("512"), 512);
  EXPECT_EQ(parse_size("512B"), 512);
  EXPECT_EQ(parse_size("64K"), 65536);
  EXPECT_EQ(parse_size("64KiB"), 65536);
  EXPECT_EQ(parse_size("64KB"), 64000);
  EXPECT_EQ(parse_size("1.5GiB"), 1610612736);
  EXPECT_EQ(parse_size("8G"), 8589934592);
  EXPECT_EQ(parse_size("8GB"), 8000000000);
  EXPECT_EQ(parse_size("2TiB"), 2199023255552);
  EXPECT_EQ(parse_size("9223372036854775807"), 9223372036854775807);
}

TEST(Size, IsNothingElse) {
  for (const char* text :
       {"", "G", "8 G", "8XB", "-1", "1e3", "8GiBs", "9223372036854775808", "9999999T", "inf", "nan"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(FailRules, SayWhichCallsAndOptionallyTheCode) {
  const auto rules = parse_fail_rules("toyMalloc:3,toyFree:2+,toySync:1=700");

  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 3);
  EXPECT_EQ((*rules)[0].call, "toyMalloc");
  EXPECT_EQ((*rules)[0].nth, 3);
  EXPECT_FALSE((*rules)[0].onwards);
  EXPECT_FALSE((*rules)[0].code);
  EXPECT_EQ((*rules)[1].nth, 2);
  EXPECT_TRUE((*rules)[1].onwards);
  EXPECT_EQ((*rules)[2].code, 700);
}

TEST(FailRules, AreRefusedAsAWholeIfOneIsWrong) {
  for (const char* text :
       {"", "toyMalloc", ":3", "toyMalloc:", "toyMalloc:0", "toyMalloc:x", "toyMalloc:3-", "a:1,", "a:1=", "a:1=x"}) {
    EXPECT_FALSE(parse_fail_rules(text)) << text;
  }
}

TEST(Knobs, HaveDefaults) {
  const Reading reading{Variables{}};

  EXPECT_EQ(reading.knobs.devices, 2);
  EXPECT_EQ(reading.knobs.memory_bytes, std::uint64_t{8} << 30);
  EXPECT_FALSE(reading.knobs.manual_clock);
  EXPECT_THAT(reading.said, IsEmpty());
}

TEST(Knobs, AreReadFromTheEnvironment) {
  const Reading reading{{{"TOY_SIM_DEVICES", "4"},
                         {"TOY_SIM_MEMORY", "16MiB"},
                         {"TOY_SIM_ALLOC_US", "10"},
                         {"TOY_SIM_FREE_US", "20"},
                         {"TOY_SIM_FAIL", "toyMalloc:1"},
                         {"TOY_SIM_TRACE", "/tmp/trace"},
                         {"TOY_SIM_CLOCK", "manual"},
                         {"TOY_SIM_SHARED", "card"},
                         {"TOY_SIM_EXTRA", "read by the driver itself"}}};

  EXPECT_EQ(reading.knobs.devices, 4);
  EXPECT_EQ(reading.knobs.memory_bytes, 16 << 20);
  EXPECT_EQ(reading.knobs.alloc_us, 10);
  EXPECT_EQ(reading.knobs.free_us, 20);
  EXPECT_EQ(reading.knobs.fail.size(), 1);
  EXPECT_EQ(reading.knobs.trace, "/tmp/trace");
  EXPECT_TRUE(reading.knobs.manual_clock);
  EXPECT_EQ(reading.knobs.shared, "card");
  EXPECT_THAT(reading.said, IsEmpty());
}

TEST(Knobs, KeepTheirDefaultsAndSayOneLineForABadValue) {
  const Variables bad{{"TOY_SIM_DEVICES", "two"}, {"TOY_SIM_MEMORY", "lots"},  {"TOY_SIM_ALLOC_US", "-1"},
                      {"TOY_SIM_FREE_US", "1.5"}, {"TOY_SIM_FAIL", "toyFree"}, {"TOY_SIM_CLOCK", "broken"},
                      {"TOY_SIM_SHARED", "a/b"}};
  for (const auto& [name, value] : bad) {
    const Reading reading{Variables{{name, value}}};

    EXPECT_THAT(reading.said, HasSubstr(name + "=" + value + " is not ")) << name;
    EXPECT_EQ(std::count(reading.said.begin(), reading.said.end(), '\n'), 1) << name;
    EXPECT_EQ(reading.knobs.devices, 2);
    EXPECT_EQ(reading.knobs.memory_bytes, std::uint64_t{8} << 30);
    EXPECT_EQ(reading.knobs.alloc_us + reading.knobs.free_us, 0);
    EXPECT_TRUE(reading.knobs.fail.empty());
    EXPECT_FALSE(reading.knobs.manual_clock);
    EXPECT_TRUE(reading.knobs.shared.empty());
  }
}

TEST(Knobs, RefuseWhatWouldNotFit) {
  EXPECT_THAT(Reading(Variables{{"TOY_SIM_DEVICES", "65"}}).said, HasSubstr("from 0 to 64"));
  EXPECT_THAT(Reading(Variables{{"TOY_SIM_MEMORY", "0"}}).said, HasSubstr("is not a size"));
  EXPECT_THAT(Reading(Variables{{"TOY_SIM_MEMORY", "65TiB"}}).said, HasSubstr("at most 64TiB"));
}

TEST(Knobs, NameASettingThatDoesNotExist) {
  const Reading reading{Variables{{"TOY_SIM_DEVISES", "4"}}};

  EXPECT_THAT(reading.said, HasSubstr("TOY_SIM_DEVISES"));
}

}  // namespace
}  // namespace sim
