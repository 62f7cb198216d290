// The table of named ranges from the allocator's side: one row a name and device, and none too many.
#include "shim/publish/range_board.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shared/ranges/table_reader.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {
namespace {

using publish::RangeBoard;
using publish::RangeName;
using ranges::RowValues;

class RangeBoardTest : public testing::Test {
 protected:
  static RangeName name(const std::string& message, const std::string& domain = "") {
    return {.domain = domain, .message = message, .hash = std::hash<std::string>{}(domain + ":" + message)};
  }
  void count(const std::string& message, std::uint32_t device, const RowValues& one) {
    EXPECT_TRUE(board_.count(name(message), device, one).ok());
  }
  [[nodiscard]] std::vector<ranges::Row> rows() const {
    const auto segment = segment::SegmentReader::open(segment_.path());
    return ranges::TableReader::beside(segment.value()).value().rows();
  }

  TemporaryDirectory directory_;
  segment::SegmentWriter segment_ = segment::SegmentWriter::create({.directory = directory_.path().c_str()}).value();
  RangeBoard board_;
};

TEST_F(RangeBoardTest, AddsTimesAndKeepsTheHighest) {
  board_.open(segment_);

  count("a", 0, {.times = 1, .allocated_bytes = 10, .reserved_bytes = 20, .added_bytes = 4});
  count("a", 0, {.times = 1, .allocated_bytes = 8, .reserved_bytes = 30, .added_bytes = 8});
  count("a", 1, {.times = 1, .unmeasured = 1});

  const std::vector<ranges::Row> found = rows();
  ASSERT_EQ(found.size(), 2U) << "one a device";
  EXPECT_EQ(found[0].values.times, 2U);
  EXPECT_EQ(found[0].values.allocated_bytes, 10U);
  EXPECT_EQ(found[0].values.reserved_bytes, 30U);
  EXPECT_EQ(found[0].values.added_bytes, 8U);
  EXPECT_EQ(found[1].device, 1U);
  EXPECT_EQ(found[1].values.unmeasured, 1U);
}

TEST_F(RangeBoardTest, PutsADomainBeforeTheName) {
  board_.open(segment_);

  EXPECT_TRUE(board_.count(name("m", "d"), 0, {.times = 1}).ok());

  EXPECT_EQ(rows().at(0).name, "d:m");
}

TEST_F(RangeBoardTest, MakesItsFileWhenSomethingIsCounted) {
  board_.open(segment_);
  EXPECT_EQ(directory_.entries().size(), 1U);

  count("a", 0, {.times = 1});
  EXPECT_EQ(directory_.entries().size(), 2U);
  board_.remove_file();

  EXPECT_EQ(directory_.entries().size(), 1U);
}

// A global object's destructor may end the first range of all when everything else is over.
TEST_F(RangeBoardTest, MakesNoFileAfterTheEnd) {
  board_.open(segment_);
  board_.remove_file();
  segment_.remove_files();

  count("late", 0, {.times = 1});

  EXPECT_FALSE(board_.is_kept());
  EXPECT_EQ(directory_.entries(), std::vector<std::string>{});
}

TEST_F(RangeBoardTest, WhatFindsNoPlaceIsCountedTogether) {
  board_.open(segment_);
  constexpr std::size_t kNames = ranges::kRows - ranges::kRowsForOthers;

  for (std::size_t i = 0; i < kNames + 5; ++i) {
    count(std::to_string(i), i % 2 == 0 ? 0 : 7, {.times = 1, .allocated_bytes = i});
  }
  count("0", 0, {.times = 1});

  std::map<std::pair<std::string, std::uint32_t>, RowValues> found;
  for (const ranges::Row& row : rows()) {
    EXPECT_TRUE(found.emplace(std::pair{row.name, row.device}, row.values).second);
  }
  EXPECT_EQ(found.size(), kNames + 2);
  EXPECT_EQ((found.at({"(other)", 0}).times), 3U);
  EXPECT_EQ((found.at({"(other)", 7}).times), 2U);
  EXPECT_EQ((found.at({"(other)", 0}).allocated_bytes), kNames + 4);
  EXPECT_EQ((found.at({"0", 0}).times), 2U) << "a known name stays known";
}

TEST_F(RangeBoardTest, SaysOnceThatItsFileCannotBeMade) {
  auto memfd = segment::SegmentWriter::create({.backing = segment::Backing::Memfd}).value();
  board_.open(memfd);
  EXPECT_TRUE(board_.is_kept());

  EXPECT_EQ(board_.count(name("a"), 0, {.times = 1}).error().code, ErrorCode::Unsupported);

  EXPECT_FALSE(board_.is_kept());
  EXPECT_TRUE(board_.count(name("a"), 0, {.times = 1}).ok());
}

TEST_F(RangeBoardTest, CountsFromManyThreads) {
  board_.open(segment_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 1000; ++round) {
        count(std::to_string(round % 10), 0, {.times = 1});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  for (const ranges::Row& row : rows()) {
    EXPECT_EQ(row.values.times, 400U) << row.name;
  }
  EXPECT_EQ(rows().size(), 10U);
}

}  // namespace
}  // namespace tidemark::test
