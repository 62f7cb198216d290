// Sizes, times, names and tables as people see them.
#include "viewer/clean_text.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/nearest.hpp"
#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"
#include "viewer/text_table.hpp"

#include "shared/base/size_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tidemark::viewer {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// Characters of all widths need a UTF-8 locale; the C library has this one built in.
class CleanText : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
};
using TextTableInUtf8 = CleanText;

TEST(SizeText, HasFourSignificantDigitsInPowersOf1024) {
  EXPECT_EQ(size_words(0), "0 B");
  EXPECT_EQ(size_words(1023), "1023 B");
  EXPECT_EQ(size_words(1024), "1.000 KiB");
  EXPECT_EQ(size_words(1536), "1.500 KiB");
  EXPECT_EQ(size_words(10 * 1024), "10.00 KiB");
  EXPECT_EQ(size_words(123456789), "117.7 MiB");
  EXPECT_EQ(size_words(std::uint64_t{1} << 40), "1.000 TiB");
  EXPECT_EQ(size_words(kMax), "16.00 EiB");
}

TEST(SizeText, TakesTheNextUnitWhenRoundingReachesIt) {
  EXPECT_EQ(size_words((1U << 20) - 1), "1.000 MiB");
  EXPECT_EQ(size_words(1023 * 1024), "1023 KiB");
  EXPECT_EQ(size_words(1023 * 1024 + 511), "1023 KiB");
  EXPECT_EQ(size_words(1023 * 1024 + 512), "1.000 MiB");
  EXPECT_EQ(size_words(10239), "9.999 KiB");
  EXPECT_EQ(size_words(10240 - 1 + 1), "10.00 KiB");
}

TEST(SizeText, IsAlwaysAsWideAsItsColumn) {
  for (std::uint64_t size = 1; size != 0; size *= 2) {
    for (const std::uint64_t near : {size - 1, size, size + 1, size + size / 3, size + size / 1000}) {
      EXPECT_EQ(size_column(near).size(), kSizeColumns) << near;
    }
  }
  EXPECT_EQ(size_column(kMax).size(), kSizeColumns);
  EXPECT_EQ(size_column(512), "  512 B  ");
}

TEST(SizeText, ReadBackIsWithinHalfOfItsLastDigit) {
  for (std::uint64_t size = 1; size < (std::uint64_t{1} << 49); size = size * 3 + 7) {
    std::string words = size_words(size);
    std::erase(words, ' ');
    const auto back = parse_size(words);

    ASSERT_TRUE(back.has_value()) << words;
    const auto error = std::abs(static_cast<double>(back->count()) - static_cast<double>(size));
    EXPECT_LE(error, static_cast<double>(size) * 0.0005 + 1) << words;
  }
}

TEST(DurationText, ReadsSecondsAndUnits) {
  using std::chrono::milliseconds;
  EXPECT_EQ(parse_duration("5"), milliseconds{5000});
  EXPECT_EQ(parse_duration("0.5"), milliseconds{500});
  EXPECT_EQ(parse_duration("0"), milliseconds{0});
  EXPECT_EQ(parse_duration("500ms"), milliseconds{500});
  EXPECT_EQ(parse_duration("10m"), milliseconds{600'000});
  EXPECT_EQ(parse_duration("24h"), milliseconds{86'400'000});
  EXPECT_EQ(parse_duration("7d"), milliseconds{604'800'000});
}

TEST(DurationText, RefusesEverythingElse) {
  for (const char* text : {"", "s", "-1", "-0", "5x", "5 s", "1e3", "inf", "nan", "0x10", "99999d", "1.2.3", "+5"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationText, SaysAtMostTwoUnits) {
  using std::chrono::seconds;
  EXPECT_EQ(duration_words(seconds{-3}), "0 s");
  EXPECT_EQ(duration_words(seconds{59}), "59 s");
  EXPECT_EQ(duration_words(seconds{192}), "3 min 12 s");
  EXPECT_EQ(duration_words(seconds{18120}), "5 h 02 min");
  EXPECT_EQ(duration_words(seconds{1'047'600}), "12 d 3 h");
}

TEST(NumberText, GroupsThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(NumberText, ReadsThousandsMillionsAndBillions) {
  EXPECT_EQ(parse_large_count("150000"), 150'000U);
  EXPECT_EQ(parse_large_count("1k"), 1000U);
  EXPECT_EQ(parse_large_count("20M"), 20'000'000U);
  EXPECT_EQ(parse_large_count("1G"), 1'000'000'000U);
  for (const char* text : {"", "k", "1K", "1Mi", "1_000", "1.5M", "-1k", "1 k", "99999999999999999G"}) {
    EXPECT_EQ(parse_large_count(text), std::nullopt) << text;
  }
}

TEST(NumberText, ScalesTimes) {
  EXPECT_EQ(time_text(0), "0 ns");
  EXPECT_EQ(time_text(999), "999 ns");
  EXPECT_EQ(time_text(12'345), "12.3 us");
  EXPECT_EQ(time_text(4'560'000), "4.56 ms");
  EXPECT_EQ(time_text(7'800'000'000), "7.8 s");
  EXPECT_EQ(time_text(3'600'000'000'000), "3600 s");
}

TEST(NumberText, LeavesTheDateOutOfATimeOfToday) {
  setenv("TZ", "UTC", 1);
  tzset();
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t now = 1'790'000'000 * kSecond;

  EXPECT_EQ(clock_text(now, now), "14:13:20");
  EXPECT_EQ(clock_text(now - 3 * 86400 * kSecond, now), "2026-09-18 14:13:20");
}

TEST(Nearest, FindsATypingMistake) {
  constexpr std::array<std::string_view, 4> kKnown{"reset-peak", "ps", "show", "--json"};
  EXPECT_EQ(nearest("reset-paek", kKnown), "reset-peak");
  EXPECT_EQ(nearest("sohw", kKnown), "show");
  EXPECT_EQ(nearest("--jsn", kKnown), "--json");
  EXPECT_EQ(nearest("something", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
}

TEST_F(CleanText, KeepsWhatATerminalCanShow) {
  EXPECT_EQ(clean_text("train.py --lr 1e-3", Charset::Utf8), "train.py --lr 1e-3");
  EXPECT_EQ(clean_text("größe 模型", Charset::Utf8), "größe 模型");
}

TEST_F(CleanText, TakesControlAndDirectionAway) {
  EXPECT_EQ(clean_text("a\x1b[31mb\nc\td\x7f", Charset::Utf8), "a [31mb c d ");
  EXPECT_EQ(clean_text("a\u202Eb\u200Bc", Charset::Utf8), "abc");
  EXPECT_EQ(clean_text("x\xc2\x9b"
                       "31m",
                       Charset::Utf8),
            "x 31m");  // CSI as one 8-bit control
}

TEST_F(CleanText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(clean_text("a\xff"
                       "b",
                       Charset::Utf8),
            "a\uFFFD"
            "b");
  EXPECT_EQ(clean_text("\xc0\xaf", Charset::Utf8), "\uFFFD\uFFFD");  // overlong '/'
  EXPECT_EQ(clean_text("\xed\xa0\x80", Charset::Utf8), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(clean_text("\xe6\xa8", Charset::Utf8), "\uFFFD\uFFFD");  // cut in the middle
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80", Charset::Utf8).size(), 12U);
}

TEST_F(CleanText, AnyBytesComeOutPrintable) {
  std::string all;
  for (int c = 0; c < 256; ++c) {
    all += static_cast<char>(c);
  }
  for (const Charset charset : {Charset::Utf8, Charset::Ascii}) {
    for (const char32_t point : clean_points(all, charset)) {
      EXPECT_TRUE(point >= 0x20 && point != 0x7F && (point < 0x80 || point >= 0xA0));
      EXPECT_TRUE(charset == Charset::Utf8 || point < 0x80);
    }
  }
}

TEST_F(CleanText, IsAsciiWhereNothingElseCanBeShown) { EXPECT_EQ(clean_text("größe", Charset::Ascii), "gr??e"); }

// Whatever the C library says of their width.
TEST_F(CleanText, LeavesOutWhatChangesTheTextAroundIt) {
  for (const char* point :
       {"\u00AD", "\u061C", "\u200E", "\u2028", "\u202E", "\u2066", "\u2069", "\uFEFF", "\U000E0041"}) {
    EXPECT_EQ(clean_text(std::string{"a"} + point + "b", Charset::Utf8), "ab");
    EXPECT_EQ(clean_bytes(std::string{"a"} + point + "b"), "ab");
  }
  EXPECT_EQ(clean_bytes("größe 模型\x1b\x07\xff"), "größe 模型  \uFFFD");
}

// The same document, that does nothing to a terminal.
TEST_F(CleanText, EscapesInJsonWhatATerminalWouldObey) {
  EXPECT_EQ(escape_in_json("{\"größe\": \"a\u202Eb\u009Bc\U000E0041\x7f\"}\n"),
            "{\"größe\": \"a\\u202eb\\u009bc\\udb40\\udc41\\u007f\"}\n");
}

TEST_F(CleanText, ClipsByColumnsNotBytes) {
  const std::u32string wide = clean_points("模型模型", Charset::Utf8);

  EXPECT_EQ(columns_of(wide), 8U);
  EXPECT_EQ(encode_utf8(clip(wide, 8, Charset::Utf8)), "模型模型");
  EXPECT_EQ(encode_utf8(clip(wide, 6, Charset::Utf8)), "模型…");
  EXPECT_EQ(encode_utf8(clip(wide, 5, Charset::Ascii)), "模型~");
  EXPECT_EQ(encode_utf8(clip(wide, 1, Charset::Utf8)), "…");
  EXPECT_EQ(encode_utf8(clip(wide, 0, Charset::Utf8)), "");
}

TEST_F(TextTableInUtf8, AlignsByWidthAndClipsTheLastColumn) {
  TextTable table({{"NAME"}, {"N", Align::Right}, {"REST"}}, Charset::Utf8);
  table.add_row({"模型", "1", "short"});
  table.add_row({"a", "12345", "a longer rest\x1b"});

  EXPECT_EQ(table.text(),
            "NAME      N  REST\n"
            "模型      1  short\n"
            "a     12345  a longer rest\n");
  EXPECT_EQ(table.text(22),
            "NAME      N  REST\n"
            "模型      1  short\n"
            "a     12345  a longer…\n");
}

}  // namespace
}  // namespace tidemark::viewer
