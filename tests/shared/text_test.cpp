// Texts of bounded length, and cleaning what others wrote.
#include "shared/segment/text.hpp"

#include <gtest/gtest.h>

namespace tidemark::segment {
namespace {

using namespace std::string_view_literals;

TEST(Text, KeepsWhatFits) {
  const Text<8> text{"1234567"};

  EXPECT_EQ(text.view(), "1234567");
  EXPECT_STREQ(text.c_str(), "1234567");
}

TEST(Text, CutsAtACharacterAndNotInOne) {
  const Text<8> text{"12345\u00e9\u00e9"};  // the first é ends at byte 7

  EXPECT_EQ(text.view(), "12345\u00e9");
  EXPECT_EQ(Text<7>{"12345\u00e9\u00e9"}.view(), "12345");
}

TEST(Text, GrowsAsFarAsItFits) {
  Text<8> text{"123"};
  text.append("45");
  text.append("6\u00e9");

  EXPECT_EQ(text.view(), "123456");
  text.append("78");
  EXPECT_EQ(text.view(), "1234567");
}

TEST(Text, EndsAtTheFirstNul) { EXPECT_EQ(Text<16>{"ab\0cd"sv}.view(), "ab"); }

TEST(CleanText, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(clean_text("train.py --größe 日本 🙂"), "train.py --größe 日本 🙂");
}

TEST(CleanText, TakesAwayWhatATerminalWouldObey) {
  EXPECT_EQ(clean_text("a\x1b[31mb\r\n\t\x7f"), "a?[31mb????");
  EXPECT_EQ(clean_text("\xc2\x9b[2J"), "?[2J");            // C1: one-character CSI
  EXPECT_EQ(clean_text("a\u202e\u2066\u200fb"), "a???b");  // direction overrides
}

TEST(CleanText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(clean_text("a\x80\xff z"), "a?? z");
  EXPECT_EQ(clean_text("\xc0\xaf"), "??");            // overlong '/'
  EXPECT_EQ(clean_text("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(clean_text("\xe6\x97"), "??");            // cut off
}

}  // namespace
}  // namespace tidemark::segment
