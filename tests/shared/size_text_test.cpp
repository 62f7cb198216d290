// Sizes as people write them.
#include "shared/base/size_text.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(SizeText, TakesTheFormsOfTheInterface) {
  EXPECT_EQ(parse_size("512"), 512_B);
  EXPECT_EQ(parse_size("0"), 0_B);
  EXPECT_EQ(parse_size("64K"), 64_KiB);
  EXPECT_EQ(parse_size("64KiB"), 64_KiB);
  EXPECT_EQ(parse_size("1.5GiB"), Bytes{3ull << 29});
  EXPECT_EQ(parse_size("8G"), 8_GiB);
  EXPECT_EQ(parse_size("8GB"), Bytes{8'000'000'000});
  EXPECT_EQ(parse_size("9223372036854775808"), Bytes{1ull << 63});
}

TEST(SizeText, CutsAFractionToWholeBytes) { EXPECT_EQ(parse_size("0.0001K"), 0_B); }

TEST(SizeText, RefusesEverythingElse) {
  for (const char* bad : {"", " 1", "1 GiB", "-1", "+1", "1.", ".5G", "1.5", "1,5G", "1e9", "0x10", "1gib", "1PiB",
                          "GiB", "9223372036854775809", "99999999999999999999999", "8388608.1T"}) {
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace tidemark
