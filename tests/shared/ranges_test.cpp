// The table of named ranges: what its writer says, what a reader believes, and files that are no such table.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shared/ranges/layout.hpp"
#include "shared/ranges/table_reader.hpp"
#include "shared/ranges/table_writer.hpp"
#include "shared/segment/enumerate.hpp"
#include "shared/segment/reader.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {
namespace {

using ranges::RowRecord;
using ranges::RowValues;
using ranges::TableReader;
using ranges::TableWriter;

// A segment with a table beside it.
class RangesWorld {
 public:
  explicit RangesWorld(segment::Access access = segment::Access::Owner)
      : segment_(segment::SegmentWriter::create(
                     {.directory = directory_.path().c_str(), .access = access, .label = "ranges"})
                     .value()) {}

  [[nodiscard]] Status create() { return writer_->create(segment_.path(), segment_.nonce()); }
  TableWriter& writer() { return *writer_; }
  [[nodiscard]] std::string path() const { return std::string{segment_.path()} + ".ranges"; }
  [[nodiscard]] std::string segment_path() const { return segment_.path(); }
  [[nodiscard]] segment::SegmentReader segment() const { return segment::SegmentReader::open(segment_.path()).value(); }
  [[nodiscard]] Result<TableReader> open() const { return TableReader::beside(segment()); }
  [[nodiscard]] std::vector<ranges::Row> rows() const { return open().value().rows({.still_ns = 1, .busy_ns = 1}); }
  const TemporaryDirectory& directory() const { return directory_; }
  // As a process's end without a farewell does.
  void die() { writer_.reset(); }

  // Puts other bytes in the table's place.
  void replace(const std::vector<std::byte>& bytes) const {
    ::unlink(path().c_str());
    write_file(path(), bytes);
  }

 private:
  TemporaryDirectory directory_;
  segment::SegmentWriter segment_;
  std::unique_ptr<TableWriter> writer_ = std::make_unique<TableWriter>();
};

constexpr std::size_t row_offset(std::size_t row) { return ranges::kRowsOffset + row * sizeof(RowRecord); }

void put(std::vector<std::byte>& bytes, std::size_t offset, std::uint64_t word) {
  std::memcpy(&bytes.at(offset), &word, sizeof word);
}

TEST(RangesTable, SaysWhatWasWritten) {
  RangesWorld world;
  ASSERT_TRUE(world.create().ok());

  world.writer().add("loader:batch", 3, {.times = 1, .allocated_bytes = 10, .reserved_bytes = 30, .added_bytes = 5});
  world.writer().add("other", 0, {.times = 1, .unmeasured = 1});
  world.writer().set(0, {.times = 2, .unmeasured = 1, .allocated_bytes = 20, .reserved_bytes = 40, .added_bytes = 7});

  const std::vector<ranges::Row> rows = world.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "loader:batch");
  EXPECT_EQ(rows[0].device, 3U);
  EXPECT_EQ(rows[0].values.times, 2U);
  EXPECT_EQ(rows[0].values.unmeasured, 1U);
  EXPECT_EQ(rows[0].values.allocated_bytes, 20U);
  EXPECT_EQ(rows[0].values.reserved_bytes, 40U);
  EXPECT_EQ(rows[0].values.added_bytes, 7U);
  EXPECT_FALSE(rows[0].approximate);
  EXPECT_EQ(rows[1].name, "other");
}

TEST(RangesTable, HasTheSegmentsMode) {
  RangesWorld world{segment::Access::Group};
  ASSERT_TRUE(world.create().ok());

  struct stat info {};
  ASSERT_EQ(::stat(world.path().c_str(), &info), 0);

  EXPECT_EQ(info.st_mode & 07777, 0440U);
}

TEST(RangesTable, CutsANameAtAWholeCharacter) {
  RangesWorld world;
  ASSERT_TRUE(world.create().ok());

  world.writer().add(std::string(ranges::kNameBytes - 2, 'x') + "\u00e9", 0, {.times = 1});

  EXPECT_EQ(world.rows().at(0).name, std::string(ranges::kNameBytes - 2, 'x'));
}

TEST(RangesTable, HasRoomForAllItsRows) {
  RangesWorld world;
  ASSERT_TRUE(world.create().ok());
  for (std::size_t i = 0; i < ranges::kRows; ++i) {
    world.writer().add(std::to_string(i), 0, {.times = i});
  }

  const std::vector<ranges::Row> rows = world.rows();

  ASSERT_EQ(rows.size(), ranges::kRows);
  EXPECT_EQ(rows.back().values.times, ranges::kRows - 1);
}

TEST(RangesTable, IsNoneWithoutANameToLieBeside) {
  const auto writer = std::make_unique<TableWriter>();

  EXPECT_EQ(writer->create("", 1).error().code, ErrorCode::Unsupported);
  EXPECT_EQ(writer->create("/nowhere/tidemark.0.1.0000000000000001", 1).error().code, ErrorCode::NotFound);
  EXPECT_EQ(RangesWorld{}.open().error().code, ErrorCode::NotFound);
}

TEST(RangesTable, GoesWithItsSegmentAndNotWithAnothersName) {
  RangesWorld world;
  ASSERT_TRUE(world.create().ok());
  const std::vector<std::byte> theirs{std::byte{1}};
  world.replace(theirs);

  world.writer().remove_file();

  EXPECT_EQ(read_file(world.path()), theirs);
}

TEST(RangesTable, IsCollectedWithTheCountersOfADeadProcessAndAloneIfTheyAreGone) {
  const TemporaryDirectory directory;
  for (const bool has_counters : {true, false}) {
    const auto table = std::make_unique<TableWriter>();
    std::string path;
    {
      auto segment = segment::SegmentWriter::create({.directory = directory.path().c_str()}).value();
      path = segment.path();
      ASSERT_TRUE(table->create(segment.path(), segment.nonce()).ok());
      const std::vector<std::string> directories{directory.path()};
      EXPECT_EQ(segment::collect_garbage(directories, {.keep_for = std::chrono::seconds{0}}).alive, 1U);
      EXPECT_EQ(::access((path + ".ranges").c_str(), F_OK), 0) << "its process lives";
    }
    if (!has_counters) {
      ::unlink(path.c_str());
    }
  }
  const std::vector<std::string> directories{directory.path()};

  EXPECT_EQ(segment::collect_garbage(directories, {.keep_for = std::chrono::seconds{0}}).failed.size(), 0U);

  EXPECT_EQ(directory.entries(), std::vector<std::string>{});
}

// Two words of a row belong together: a reader never sees one without the other.
TEST(RangesTable, IsConsistentWhileItIsWritten) {
  RangesWorld world;
  ASSERT_TRUE(world.create().ok());
  world.writer().add("both", 0, {});
  std::atomic<bool> is_over{false};
  std::thread writer{[&] {
    for (std::uint64_t i = 1; !is_over; ++i) {
      world.writer().set(0, {.times = i, .unmeasured = i, .allocated_bytes = i, .reserved_bytes = i, .added_bytes = i});
    }
  }};
  const Result<TableReader> reader = world.open();

  std::size_t consistent = 0;
  for (int i = 0; i < 2000; ++i) {
    const ranges::Row row = reader.value().rows().at(0);
    if (!row.approximate) {
      ++consistent;
      EXPECT_EQ(row.values.times, row.values.added_bytes);
      EXPECT_EQ(row.values.times, row.values.unmeasured);
    }
  }
  is_over = true;
  writer.join();
  EXPECT_GT(consistent, 0U);
}

class DamagedRanges : public testing::Test {
 protected:
  DamagedRanges() {
    EXPECT_TRUE(world_.create().ok());
    world_.writer().add("first", 0, {.times = 1});
    world_.writer().add("second", 0, {.times = 2});
    bytes_ = read_file(world_.path());
  }

  RangesWorld world_;
  std::vector<std::byte> bytes_;
};

TEST_F(DamagedRanges, OfAnotherProcessOrFormAreNone) {
  const auto outcome = [&](std::size_t offset, std::uint64_t word) {
    std::vector<std::byte> damaged = bytes_;
    put(damaged, offset, word);
    world_.replace(damaged);
    const Result<TableReader> opened = world_.open();
    return opened ? std::optional<ErrorCode>{} : opened.error().code;
  };

  EXPECT_EQ(outcome(offsetof(ranges::Head, magic), 1), ErrorCode::BadFormat);
  EXPECT_EQ(outcome(offsetof(ranges::Head, nonce), 1), ErrorCode::BadFormat);
  EXPECT_EQ(outcome(offsetof(ranges::Head, state), 0), ErrorCode::BadFormat);
  EXPECT_EQ(outcome(offsetof(ranges::Head, version), 0), ErrorCode::BadFormat);
  EXPECT_EQ(outcome(offsetof(ranges::Head, version), ranges::kVersionWord + 1), ErrorCode::WrongVersion);
  EXPECT_EQ(outcome(offsetof(ranges::Head, layout_hash), 1), ErrorCode::WrongVersion);
  EXPECT_EQ(outcome(offsetof(ranges::Head, nonce), world_.segment().identity().nonce), std::nullopt);
}

TEST_F(DamagedRanges, ThatAreNoFileAreNone) {
  ::unlink(world_.path().c_str());
  ASSERT_EQ(::symlink("/etc/passwd", world_.path().c_str()), 0);
  EXPECT_EQ(world_.open().error().code, ErrorCode::BadFormat);
  ::unlink(world_.path().c_str());
  ASSERT_EQ(::mkfifo(world_.path().c_str(), 0600), 0);
  EXPECT_EQ(world_.open().error().code, ErrorCode::BadFormat);
  world_.replace({});
  EXPECT_EQ(world_.open().error().code, ErrorCode::BadFormat);
}

TEST_F(DamagedRanges, ReadAsFarAsTheyGo) {
  for (std::size_t size = sizeof(ranges::Head); size < row_offset(3); size += 64) {
    world_.replace({bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size)});

    EXPECT_EQ(world_.rows().size(), size < row_offset(1) ? 0U : size < row_offset(2) ? 1U : 2U) << size;
  }
}

TEST_F(DamagedRanges, ClaimNoMoreRowsThanThereCanBe) {
  put(bytes_, offsetof(ranges::Head, count), ~std::uint64_t{0});
  world_.replace(bytes_);

  EXPECT_EQ(world_.rows().size(), ranges::kRows);
}

TEST_F(DamagedRanges, HaveNamesThatNoTerminalObeys) {
  std::memcpy(&bytes_.at(row_offset(0) + offsetof(RowRecord, name)), "\x1b[2J\xff\x80\n", 7);
  std::memset(&bytes_.at(row_offset(1) + offsetof(RowRecord, name)), 'y', ranges::kNameBytes);  // no end
  world_.replace(bytes_);

  const std::vector<ranges::Row> rows = world_.rows();

  EXPECT_EQ(rows.at(0).name.find_first_of("\x1b\n\xff"), std::string::npos) << rows.at(0).name;
  EXPECT_EQ(rows.at(1).name, std::string(ranges::kNameBytes, 'y'));
}

// Every row claims to be in the middle of a change. Patience with each would be a minute.
TEST_F(DamagedRanges, ThatNeverComeToRestAreNotWaitedForRowByRow) {
  put(bytes_, offsetof(ranges::Head, count), ranges::kRows);
  for (std::size_t i = 0; i < ranges::kRows; ++i) {
    put(bytes_, row_offset(i), 1);
  }
  world_.replace(bytes_);

  const std::vector<ranges::Row> rows = world_.rows();

  ASSERT_EQ(rows.size(), ranges::kRows);
  EXPECT_TRUE(rows.front().approximate);
  EXPECT_EQ(rows.front().name, "first");
}

}  // namespace
}  // namespace tidemark::test
