// Rounding and pools: PyTorch's rules (research §3.1, §3.2) with D4's change for large requests.
#include "shim/alloc/size_policy.hpp"

#include <gtest/gtest.h>

namespace tidemark::test {
namespace {

using alloc::Policy;
using alloc::Pool;
using alloc::Request;
using alloc::SizePolicy;

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;

TEST(SizePolicy, RoundsToUnitsAndChoosesThePoolByTheRoundedSize) {
  const SizePolicy sizes{Policy::cuda_default()};

  EXPECT_EQ(sizes.classify(1).block, 512U);
  EXPECT_EQ(sizes.classify(512).block, 512U);
  EXPECT_EQ(sizes.classify(513).block, 1024U);
  EXPECT_EQ(sizes.classify(kMiB).pool, Pool::Small);
  EXPECT_EQ(sizes.classify(kMiB).segment, 2 * kMiB);
  EXPECT_EQ(sizes.classify(kMiB + 1).pool, Pool::Large);
}

TEST(SizePolicy, SaysTheSameOfAPlainRequestWithoutLookingAtTheOptions) {
  const SizePolicy sizes{Policy::cuda_default()};
  Policy divided;
  divided.roundup_power2_divisions.fill(4);
  Policy limited;
  limited.max_split_size = 64_MiB;

  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{513}, kMiB}) {
    ASSERT_TRUE(sizes.is_plain(size));
    const Request plain = sizes.classify_plain(size);
    const Request any = sizes.classify(size);
    EXPECT_EQ(plain.requested, any.requested);
    EXPECT_EQ(plain.block, any.block);
    EXPECT_EQ(plain.most, any.most);
    EXPECT_EQ(plain.segment, any.segment);
    EXPECT_EQ(plain.pool, any.pool);
    EXPECT_EQ(plain.shared, any.shared);
    EXPECT_FALSE(SizePolicy{divided}.is_plain(size));
    EXPECT_FALSE(SizePolicy{limited}.is_plain(size));
  }
  EXPECT_FALSE(sizes.is_plain(kMiB + 1));
}

TEST(SizePolicy, GivesALargeRequestASegmentOfItsOwn) {
  const SizePolicy sizes{Policy::cuda_default()};

  const Request request = sizes.classify(3 * kMiB);

  EXPECT_EQ(request.block, 4 * kMiB);
  EXPECT_EQ(request.segment, 4 * kMiB);
  EXPECT_FALSE(request.shared);
  EXPECT_FALSE(sizes.splits(8 * kMiB, request));
}

TEST(SizePolicy, LetsASegmentServeIfAtMostAnEighthOfItIsWasted) {
  const SizePolicy sizes{Policy::cuda_default()};

  for (std::uint64_t rounded = 2 * kMiB; rounded < 400 * kMiB; rounded += 2 * kMiB) {
    const Request request = sizes.classify(rounded);
    for (std::uint64_t segment = rounded; segment < 2 * rounded; segment += 2 * kMiB) {
      EXPECT_EQ(segment <= request.most, (segment - rounded) * 8 <= segment) << segment << " for " << rounded;
    }
  }
}

TEST(SizePolicy, SplitsAsPyTorchDoes) {
  const SizePolicy sizes{Policy::mtia_default()};
  const Request small = sizes.classify(kMiB);
  const Request large = sizes.classify(2 * kMiB);

  EXPECT_EQ(large.segment, 20 * kMiB);
  EXPECT_EQ(sizes.classify(10 * kMiB - 1).segment, 10 * kMiB) << "rounded first: 10 MiB is no longer below 10 MiB";
  EXPECT_EQ(sizes.classify(10 * kMiB - 1024).segment, 20 * kMiB);
  EXPECT_EQ(sizes.classify(11 * kMiB).segment, 12 * kMiB);
  EXPECT_TRUE(sizes.splits(kMiB + 512, small));
  EXPECT_FALSE(sizes.splits(kMiB, small));
  EXPECT_TRUE(sizes.splits(3 * kMiB + 512, large));
  EXPECT_FALSE(sizes.splits(3 * kMiB, large)) << "a rest of 1 MiB stays with the block";
}

TEST(SizePolicy, KeepsOversizeBlocksForOversizeRequests) {
  Policy policy = Policy::mtia_default();
  policy.max_split_size = Bytes{64 * kMiB};
  const SizePolicy sizes{policy};

  EXPECT_EQ(sizes.classify(30 * kMiB).most, 64 * kMiB - 1);
  EXPECT_EQ(sizes.classify(64 * kMiB).most, 84 * kMiB - 1);
  EXPECT_FALSE(sizes.splits(84 * kMiB - 512, sizes.classify(64 * kMiB)));
  EXPECT_TRUE(sizes.is_oversize(64 * kMiB));
  EXPECT_FALSE(sizes.is_oversize(64 * kMiB - 1));
}

// PyTorch's own example for four divisions: 1200 becomes 1280, between 1024 and 2048 in steps of 256.
TEST(SizePolicy, RoundsToDivisionsOfAPowerOfTwo) {
  Policy policy = Policy::mtia_default();
  policy.roundup_power2_divisions.fill(4);
  const SizePolicy sizes{policy};

  EXPECT_EQ(sizes.classify(1200).block, 1536U) << "at most 512 * 4: plain rounding";
  EXPECT_EQ(sizes.classify(5 * kKiB).block, 5 * kKiB);
  EXPECT_EQ(sizes.classify(5 * kKiB + 1).block, 6 * kKiB);
  EXPECT_EQ(sizes.classify(8 * kKiB).block, 8 * kKiB);
  EXPECT_EQ(sizes.classify(9 * kKiB).block, 10 * kKiB);
  EXPECT_EQ(sizes.classify(1100 * kKiB).block, 1280 * kKiB);
}

TEST(SizePolicy, TakesDivisionsByMagnitude) {
  Policy policy = Policy::mtia_default();
  policy.roundup_power2_divisions[2] = 2;  // [4, 8) MiB
  const SizePolicy sizes{policy};

  EXPECT_EQ(sizes.classify(4 * kMiB + 1).block, 6 * kMiB);
  EXPECT_EQ(sizes.classify(6 * kMiB + 1).block, 8 * kMiB);
  EXPECT_EQ(sizes.classify(3 * kMiB + 1).block, 3 * kMiB + 512);
  EXPECT_EQ(sizes.classify(9 * kMiB + 1).block, 9 * kMiB + 512);
}

TEST(Policy, NamesTheOptionThatContradicts) {
  EXPECT_EQ(Policy::cuda_default().contradiction(), nullptr);
  EXPECT_EQ(Policy::mtia_default().contradiction(), nullptr);

  Policy policy = Policy::mtia_default();
  policy.small_limit = 4_MiB;
  EXPECT_STREQ(policy.contradiction(), "small_limit_kb");
  policy = Policy::mtia_default();
  policy.max_split_size = 20_MiB;
  EXPECT_STREQ(policy.contradiction(), "max_split_size_mb");
  policy = Policy::mtia_default();
  policy.max_non_split_rounding = 1_MiB;
  EXPECT_STREQ(policy.contradiction(), "max_non_split_rounding_mb");
  policy = Policy::mtia_default();
  policy.large_segment = 4_MiB;
  EXPECT_STREQ(policy.contradiction(), "large_segment_size_mb");
  policy = Policy::mtia_default();
  policy.roundup_power2_divisions[5] = 3;
  EXPECT_STREQ(policy.contradiction(), "roundup_power2_divisions");
  policy = Policy::mtia_default();
  policy.garbage_collection_threshold = 1.0;
  EXPECT_STREQ(policy.contradiction(), "garbage_collection_threshold");
}

}  // namespace
}  // namespace tidemark::test
