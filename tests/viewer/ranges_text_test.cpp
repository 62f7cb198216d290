// `tidemark ranges` as a table and as JSON, and its order.
#include "viewer/render/ranges_text.hpp"
#include "viewer/exit_code.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::vector<NamedRange> sample() {
  return {{.name = "load",
           .device = "cuda:0",
           .values = {.times = 1200, .allocated_bytes = 4 * kMiB, .reserved_bytes = 6 * kMiB, .added_bytes = kMiB}},
          {.name = "step",
           .device = "cuda:0",
           .values = {.times = 3, .allocated_bytes = 3 * kMiB, .reserved_bytes = 8 * kMiB, .added_bytes = 2 * kMiB}}};
}

TEST(RangesText, HasARowForEachNameAndDevice) {
  EXPECT_EQ(ranges_text(sample(), Charset::Ascii, 0),
            "TIMES  PEAK ALLOCATED      ADDED  PEAK RESERVED  DEVICE  NAME\n"
            "1,200       4.000 MiB  1.000 MiB      6.000 MiB  cuda:0  load\n"
            "    3       3.000 MiB  2.000 MiB      8.000 MiB  cuda:0  step\n");
}

TEST(RangesText, SaysWhatWasNotMeasured) {
  std::vector<NamedRange> ranges = sample();
  ranges[0].values.unmeasured = 7;
  ranges[1].values.unmeasured = 3;
  ranges[1].device.clear();

  EXPECT_EQ(ranges_text(ranges, Charset::Ascii, 0),
            "TIMES  NOT MEASURED  PEAK ALLOCATED      ADDED  PEAK RESERVED  DEVICE  NAME\n"
            "1,200             7       4.000 MiB  1.000 MiB      6.000 MiB  cuda:0  load\n"
            "    3             3               -          -              -  ?       step\n");
}

TEST(RangesText, ObeysNoNameOfTheProgram) {
  std::vector<NamedRange> ranges = sample();
  ranges[0].name = "a\x1b[2J\nb\xff";

  const std::string text = ranges_text(ranges, Charset::Ascii, 0);

  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("a [2J b?"), std::string::npos) << text;
}

TEST(RangesJson, SaysUnknownWhereNothingWasMeasured) {
  std::vector<NamedRange> ranges = sample();
  ranges[1].values.unmeasured = 3;

  const auto page = nlohmann::json::parse(ranges_json(sample_view().processes[0], ranges, kSampleNow));

  EXPECT_EQ(page.at("schema"), 1);
  EXPECT_EQ(page.at("ranges").at(0).at("added_bytes"), kMiB);
  EXPECT_EQ(page.at("ranges").at(1).at("added_bytes"), nullptr);
  EXPECT_EQ(page.at("ranges").at(1).at("not_measured"), 3);
}

TEST(SortRanges, PutsTheLargestFirstAndNamesByTheirLetters) {
  const auto first_by = [](std::string_view key) {
    std::vector<NamedRange> ranges = sample();
    sort_ranges(ranges, key);
    return ranges.front().name;
  };

  EXPECT_EQ(first_by("added"), "step");
  EXPECT_EQ(first_by("allocated"), "load");
  EXPECT_EQ(first_by("reserved"), "step");
  EXPECT_EQ(first_by("times"), "load");
  EXPECT_EQ(first_by("name"), "load");
  EXPECT_THROW(first_by("size"), Failure);
}

}  // namespace
}  // namespace tidemark::viewer
