// TIDEMARK_ALLOC_CONF and TIDEMARK_LIMIT.
#include "shim/runtime/alloc_settings.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::runtime {
namespace {

struct Applied {
  alloc::Policy policy;
  OptionWarnings warnings;
};

Applied apply(const char* conf) {
  Applied applied;
  apply_alloc_conf(conf, applied.policy, 8_GiB, applied.warnings);
  return applied;
}

TEST(AllocConf, TakesOurKeysAndPyTorchs) {
  const Applied got =
      apply("large:split, max_split_size_mb:128,max_non_split_rounding_mb:64 ,small_limit_kb:512,max_cached_mb:10");

  EXPECT_EQ(got.warnings.count(), 0);
  EXPECT_EQ(got.policy.large_requests, alloc::LargeRequests::Split);
  EXPECT_EQ(got.policy.max_split_size, 128_MiB);
  EXPECT_EQ(got.policy.max_non_split_rounding, 64_MiB);
  EXPECT_EQ(got.policy.small_limit, 512_KiB);
  EXPECT_EQ(got.policy.max_cached, 10_MiB);
}

TEST(AllocConf, TakesOneDivisionForAllSizes) {
  const Applied got = apply("roundup_power2_divisions:4");

  EXPECT_EQ(got.policy.roundup_power2_divisions[0], 4u);
  EXPECT_EQ(got.policy.roundup_power2_divisions[15], 4u);
}

TEST(AllocConf, TakesPyTorchsListOfDivisions) {
  const Applied got = apply("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");

  EXPECT_EQ(got.warnings.count(), 0);
  EXPECT_EQ(got.policy.roundup_power2_divisions[0], 1u) << "the first key covers what is smaller";
  EXPECT_EQ(got.policy.roundup_power2_divisions[8], 1u);
  EXPECT_EQ(got.policy.roundup_power2_divisions[9], 2u);
  EXPECT_EQ(got.policy.roundup_power2_divisions[10], 8u) << "> starts at the last key's own place";
  EXPECT_EQ(got.policy.roundup_power2_divisions[15], 8u);
}

TEST(AllocConf, SaysThatAKeyWithoutMeaningHereHasNoEffectAndUsesTheRest) {
  const Applied got = apply("expandable_segments:True,large:split");

  EXPECT_EQ(got.policy.large_requests, alloc::LargeRequests::Split);
  ASSERT_EQ(got.warnings.count(), 1);
  EXPECT_STREQ(got.warnings.line(0), "TIDEMARK_ALLOC_CONF: expandable_segments: no effect");
}

TEST(AllocConf, LeavesThePolicyAsItWasAfterABadItem) {
  for (const char* bad : {"large:maybe", "max_split_size_mb:x", "max_split_size_mb:", "garbage_collection_threshold:2",
                          "small_limit_kb:4096", "roundup_power2_divisions:3", "roundup_power2_divisions:[3:1]",
                          "nonsense:1", "nonsense", "max_idle_s:-1", "per_process_memory_fraction:0"}) {
    const Applied got = apply(bad);

    EXPECT_EQ(got.warnings.count(), 1) << bad;
    EXPECT_EQ(got.policy.large_requests, alloc::LargeRequests::Whole) << bad;
    EXPECT_EQ(got.policy.small_limit, 1_MiB) << bad;
    EXPECT_FALSE(got.policy.max_split_size.has_value()) << bad;
  }
}

TEST(AllocConf, RefusesWhatIsOutOfBoundsOrContradictsAndSaysWhatIsUsed) {
  for (const char* bad : {"large:split,max_split_size_mb:5", "max_split_size_mb:128", "large_segment_size_mb:2",
                          "max_non_split_rounding_mb:3", "garbage_collection_threshold:1", "small_limit_kb:0"}) {
    const std::string item = std::string{bad}.substr(std::string{bad}.find(',') + 1);
    const Applied got = apply(bad);

    ASSERT_EQ(got.warnings.count(), 1) << bad;
    const std::string line = got.warnings.line(0);
    EXPECT_TRUE(line.starts_with("TIDEMARK_ALLOC_CONF: " + item + ": allowed is ")) << line;
    EXPECT_NE(line.find("; the default is used: "), std::string::npos) << line;
    EXPECT_FALSE(got.policy.max_split_size.has_value());
    EXPECT_EQ(got.policy.large_segment, 20_MiB);
    EXPECT_EQ(got.policy.max_non_split_rounding, 20_MiB);
    EXPECT_EQ(got.policy.garbage_collection_threshold, 0.0);
    EXPECT_EQ(got.policy.small_limit, 1_MiB);
  }
  EXPECT_STREQ(apply("max_split_size_mb:128").warnings.line(0),
               "TIDEMARK_ALLOC_CONF: max_split_size_mb:128: allowed is a number of MiB above 20, with large:split; the "
               "default is used: unlimited");
}

TEST(AllocConf, NamesTheKeysToWhoeverMistypesOne) {
  EXPECT_STREQ(
      apply("max_split_size:64").warnings.line(0),
      "TIDEMARK_ALLOC_CONF: max_split_size:64: no such key, ignored; there are max_split_size_mb, "
      "max_non_split_rounding_mb, large_segment_size_mb, roundup_power2_divisions, garbage_collection_threshold, "
      "per_process_memory_fraction, large, small_limit_kb, max_cached_mb, max_idle_s");
}

// One item's failure must not be another's: `large` is applied first, wherever it stands.
TEST(AllocConf, SaysOneLineForEachBadItemAndUsesTheRest) {
  const Applied got = apply("max_split_size_mb:128,max_idle_s:x,max_cached_mb:7");

  EXPECT_EQ(got.warnings.count(), 2);
  EXPECT_EQ(got.policy.max_cached, 7_MiB);
  EXPECT_EQ(got.policy.max_idle_ns, 10'000'000'000U);
}

TEST(AllocConf, TakesItsKeysInAnyOrder) {
  const Applied got = apply("max_split_size_mb:128,large:split");

  EXPECT_EQ(got.warnings.count(), 0);
  EXPECT_EQ(got.policy.max_split_size, 128_MiB);
}

TEST(AllocConf, TurnsAMemoryFractionIntoALimitAndOneIntoNone) {
  EXPECT_EQ(apply("per_process_memory_fraction:0.5").policy.limit, 4_GiB);
  EXPECT_FALSE(apply("per_process_memory_fraction:1.0").policy.limit.has_value());
}

TEST(Limit, HoldsForEveryDeviceOrForTheNamedOnes) {
  OptionWarnings warnings;

  EXPECT_EQ(limit_for("8GiB", {"mtia", 1}, 16_GiB, warnings), 8_GiB);
  EXPECT_EQ(limit_for("cuda:0=1GiB,mtia=50%", {"cuda", 0}, 16_GiB, warnings), 1_GiB);
  EXPECT_EQ(limit_for("cuda:0=1GiB,mtia=50%", {"mtia", 3}, 16_GiB, warnings), 8_GiB);
  EXPECT_FALSE(limit_for("cuda:0=1GiB,mtia=50%", {"cuda", 1}, 16_GiB, warnings).has_value());
  EXPECT_FALSE(limit_for("", {"cuda", 1}, 16_GiB, warnings).has_value());
  EXPECT_EQ(warnings.count(), 0);
}

TEST(Limit, IgnoresABadItemAndSaysSo) {
  OptionWarnings warnings;

  EXPECT_EQ(limit_for("eight,2GiB", {"cuda", 0}, 16_GiB, warnings), 2_GiB);
  ASSERT_EQ(warnings.count(), 1);
  EXPECT_TRUE(std::string{warnings.line(0)}.starts_with("TIDEMARK_LIMIT: eight is not a size like 512"));
}

}  // namespace
}  // namespace tidemark::runtime
