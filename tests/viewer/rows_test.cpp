// Which rows the table of top has, in which order, and which columns.
#include "viewer/tui/rows.hpp"
#include "viewer/tui/columns.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tidemark::viewer {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    names.push_back(std::to_string(row.process->pid()) + " " + row.key().device);
  }
  return names;
}

std::vector<std::string> sorted(const View& view, ColumnId by, bool inverted = false) {
  return names_of(rows_of(view, {.filter = "", .sort = by, .inverted = inverted}));
}

TEST(Rows, ComeAsTheirProcessesBegan) {
  const View view = sample_view();

  EXPECT_THAT(names_of(rows_of(view)),
              ElementsAre("4711 cuda:0", "4711 cuda:1", "4712 mtia:0", "4194303 ", "99 cuda:0"));
}

TEST(Rows, AreSortedByNumbersFromTheLargestWithTheUnknownLast) {
  const View view = sample_view();

  EXPECT_THAT(sorted(view, ColumnId::Reserved),
              ElementsAre("4712 mtia:0", "4711 cuda:0", "4711 cuda:1", "99 cuda:0", "4194303 "));
  EXPECT_THAT(sorted(view, ColumnId::Reserved, true),
              ElementsAre("99 cuda:0", "4711 cuda:1", "4711 cuda:0", "4712 mtia:0", "4194303 "));
  EXPECT_THAT(sorted(view, ColumnId::HitRate),
              ElementsAre("4711 cuda:0", "4712 mtia:0", "4711 cuda:1", "99 cuda:0", "4194303 "));
}

TEST(Rows, AreSortedByNamesFromTheFirstLetter) {
  const View view = sample_view();

  EXPECT_THAT(sorted(view, ColumnId::Title),
              ElementsAre("99 cuda:0", "4711 cuda:0", "4711 cuda:1", "4712 mtia:0", "4194303 "));
  EXPECT_THAT(sorted(view, ColumnId::Pid),
              ElementsAre("99 cuda:0", "4711 cuda:0", "4711 cuda:1", "4712 mtia:0", "4194303 "));
}

TEST(Rows, AreSortedByDeviceWithTenBehindNine) {
  View view = sample_view();
  const auto on = [](std::uint32_t ordinal) {
    return sample_process({.id = "aaaaaaaa", .pid = ordinal}, {sample_device(segment::Backend::Cuda, ordinal, {})});
  };
  view.processes = {on(10), on(9)};

  EXPECT_THAT(sorted(view, ColumnId::Device), ElementsAre("9 cuda:9", "10 cuda:10"));
}

TEST(Rows, CanBeSortedByEveryColumn) {
  const View view = sample_view();
  for (const Column& column : all_columns()) {
    EXPECT_EQ(rows_of(view, {.filter = "", .sort = column.id}).size(), 5U) << column.title;
  }
}

TEST(Rows, MatchAFilterInAnyOfTheirNamesAndAnyCase) {
  const View view = sample_view();
  const auto filtered = [&](const std::string& text) { return names_of(rows_of(view, {.filter = text})); };

  EXPECT_THAT(filtered("EVAL"), ElementsAre("4711 cuda:0", "4711 cuda:1"));
  EXPECT_THAT(filtered("cuda:1"), ElementsAre("4711 cuda:1"));
  EXPECT_THAT(filtered("471"), ElementsAre("4711 cuda:0", "4711 cuda:1", "4712 mtia:0"));
  EXPECT_THAT(filtered("killed"), ElementsAre("99 cuda:0"));
  EXPECT_THAT(filtered("00c0ffee"), ElementsAre("4712 mtia:0"));
  EXPECT_TRUE(filtered("nobody").empty());
}

TEST(Rows, FollowTheirParentsInATree) {
  const View view = sample_view();
  const RowChoice choice{.filter = "", .sort = ColumnId::Reserved, .inverted = false, .tree = true};

  EXPECT_THAT(names_of(rows_of(view, choice, {3, std::nullopt, std::nullopt, std::nullopt})),
              ElementsAre("4712 mtia:0", "4194303 ", "99 cuda:0", "4711 cuda:0", "4711 cuda:1"));
  EXPECT_THAT(names_of(rows_of(view, choice, {})),  // not looked up yet
              ElementsAre("4711 cuda:0", "4711 cuda:1", "4712 mtia:0", "4194303 ", "99 cuda:0"));
}

TEST(Columns, FillTheWidthWithoutPassingIt) {
  for (int width = 37; width <= 500; ++width) {
    int end = 0;
    for (const PlacedColumn& place : columns_for(width)) {
      ASSERT_GE(place.at, end + 1) << width;
      end = place.at + place.width;
    }
    ASSERT_LE(end, width);
  }
  EXPECT_EQ(columns_for(37).size(), 4U);
  EXPECT_EQ(columns_for(200).size(), kColumnCount);
}

TEST(Columns, AreInTheOrderOfTheirIds) {
  for (std::size_t i = 0; i < kColumnCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(all_columns()[i].id), i);
  }
}

TEST(Columns, SayHowLongAgoAPeakBeganWhereAClockWouldNotFit) {
  View view = sample_view();
  view.processes[0].devices[0].peak_since_ns = kSampleNow - 3 * 86400 * kSampleSecond;

  EXPECT_EQ(column_of(ColumnId::Since).text(rows_of(view)[0], kSampleNow), "3 d ago");
  EXPECT_EQ(column_of(ColumnId::Since).text(rows_of(view)[3], kSampleNow), "-");
}

TEST(Counts, AreShortenedInsteadOfCut) {
  EXPECT_EQ(count_text(0, 5), "0");
  EXPECT_EQ(count_text(99999, 5), "99999");
  EXPECT_EQ(count_text(100000, 5), "100k");
  EXPECT_EQ(count_text(12'345'678, 5), "12M");
  EXPECT_EQ(count_text(~std::uint64_t{0}, 5), "18E");
  EXPECT_EQ(count_text(~std::uint64_t{0}, 4), "18E");
}

}  // namespace
}  // namespace tidemark::viewer
