// Histories of processes that were killed, and files that are no histories.
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "shared/history/layout.hpp"
#include "shared/segment/enumerate.hpp"
#include "tests/shared/history_world.hpp"
#include "tests/support/history_check.hpp"

namespace tidemark::test {
namespace {

using history::DeviceRecord;
using history::Layout;

// The bytes of a history, to be damaged.
class HistoryImage {
 public:
  explicit HistoryImage(HistoryWorld& world) : path_(world.directory() / "copy"), bytes_(read_file(world.path())) {}

  void put(std::size_t offset, std::uint64_t word) { std::memcpy(&bytes_[offset], &word, sizeof word); }
  [[nodiscard]] std::uint64_t at(std::size_t offset) const {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes_[offset], sizeof word);
    return word;
  }
  void put_line(std::size_t offset, const std::vector<std::byte>& from) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), history::kLineBytes,
                bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

  [[nodiscard]] Result<history::HistoryReader> open() const {
    write_file(path_, bytes_);
    return history::HistoryReader::open(path_);
  }
  [[nodiscard]] history::Device device() const {
    return open().value().read({.still_ns = 1, .busy_ns = 1}).value().devices.at(0);
  }

  static constexpr std::size_t kDevice = offsetof(Layout, devices);

 private:
  std::string path_;
  std::vector<std::byte> bytes_;
};

// The writer was killed between the first of an event's lines and the last: each state that the file can be in then.
TEST(KilledHistory, IsAsItIsAfterTheEventThatWasUnderWay) {
  HistoryWorld world;
  world.device().make_segment();
  const std::vector<std::byte> before = read_file(world.path());
  world.device().allocate();
  const HistoryImage after{world};
  const std::uint64_t lines = after.at(HistoryImage::kDevice + offsetof(DeviceRecord, journal_count));
  ASSERT_EQ(lines, 4U);  // the event, two blocks, the counts

  for (std::uint64_t written = 0; written <= lines; ++written) {
    HistoryImage killed = after;
    killed.put(HistoryImage::kDevice, killed.at(HistoryImage::kDevice) - 1);
    for (std::uint64_t i = written; i < lines; ++i) {
      const std::uint64_t target =
          killed.at(HistoryImage::kDevice + offsetof(DeviceRecord, journal_targets) + i * sizeof(std::uint64_t));
      killed.put_line(
          target == history::kCountsTarget ? HistoryImage::kDevice + offsetof(DeviceRecord, counts) : target, before);
    }

    const history::Device device = killed.device();

    EXPECT_EQ(what_is_wrong(device), "") << written;
    EXPECT_EQ(device.events.size(), 2U) << written;
    EXPECT_EQ(device.segments.at(0).blocks.size(), 2U) << written;
  }
}

// The same by real kills, wherever they hit.
TEST(KilledHistory, IsSoundWheneverItsProcessWasKilled) {
  for (int round = 0; round < 40; ++round) {
    HistoryWorld world{{.max_entries = 32}};
    SmallDevice& device = world.device();
    device.make_segment();
    // The history's pages are not inherited, so the child makes its own.
    Bell begun;
    Child child{[&]() -> int {
      auto own = segment::SegmentWriter::create(options_in(world.directory()));
      auto writer = history::HistoryWriter::create(own.value().path(), own.value().nonce(), {.max_entries = 32});
      SmallDevice recorded{writer.value().add_device().value()};
      recorded.make_segment();
      for (int i = 0;; ++i) {
        recorded.allocate();
        recorded.free();
        if (i == round) {
          begun.ring();
        }
      }
    }};
    ASSERT_TRUE(begun.wait());
    child.send(SIGKILL);
    child.wait();

    bool found = false;
    for (const std::string& name : world.directory().entries()) {
      const std::string path = world.directory() / name;
      if (name.ends_with(".hist") && path != world.path()) {
        found = true;
        EXPECT_EQ(what_is_wrong(history::HistoryReader::open(path).value().read().value()), "");
      }
    }
    EXPECT_TRUE(found);
  }
}

TEST(DamagedHistory, IsNotOneWithoutItsMark) {
  HistoryWorld world;
  HistoryImage image{world};
  image.put(0, 1);

  EXPECT_EQ(image.open().error().code, ErrorCode::BadFormat);
}

TEST(DamagedHistory, OfAnotherMajorVersionIsRefused) {
  HistoryWorld world;
  HistoryImage image{world};
  image.put(offsetof(history::Head, version), history::kVersionWord + 1);

  EXPECT_EQ(image.open().error().code, ErrorCode::WrongVersion);
}

TEST(DamagedHistory, OfANewerMinorIsRead) {
  HistoryWorld world;
  world.device().make_segment();
  HistoryImage image{world};
  image.put(offsetof(history::Head, version), history::kVersionWord + (std::uint64_t{1} << 16));
  image.put(offsetof(history::Head, layout_hash), 1);

  EXPECT_EQ(image.device().segments.size(), 1U);
}

TEST(DamagedHistory, ThatWasCutOffHasWhatIsLeft) {
  HistoryWorld world;
  world.device().make_segment();
  HistoryImage image{world};
  image.bytes().resize(history::kTablesOffset);

  const history::Device device = image.device();

  EXPECT_TRUE(device.segments.empty());
  EXPECT_TRUE(device.events.empty());
  image.bytes().resize(100);
  EXPECT_FALSE(image.open().ok());
}

TEST(DamagedHistory, WithTablesOutsideTheFileHasNone) {
  HistoryWorld world;
  world.device().make_segment();
  HistoryImage image{world};
  for (const std::size_t field : {offsetof(DeviceRecord, ring_offset), offsetof(DeviceRecord, blocks_offset),
                                  offsetof(DeviceRecord, segments_offset)}) {
    image.put(HistoryImage::kDevice + field, UINT64_MAX - 7);
  }

  const history::Device device = image.device();

  EXPECT_TRUE(device.segments.empty());
  EXPECT_TRUE(device.events.empty());
}

TEST(DamagedHistory, WhoseBlocksOverlapIsApproximateAndStillTiles) {
  HistoryWorld world;
  world.device().make_segment();
  world.device().allocate();
  HistoryImage image{world};
  const std::uint64_t blocks = image.at(HistoryImage::kDevice + offsetof(DeviceRecord, blocks_offset));
  image.put(blocks + 2 * history::kLineBytes + history::block_word::kSize * 8, 4096);

  const history::Device device = image.device();

  EXPECT_TRUE(device.is_approximate);
  std::uint64_t size = 0;
  for (const history::Block& block : device.segments.at(0).blocks) {
    size += block.size;
  }
  EXPECT_EQ(size, 2 * kMiB);
}

TEST(DamagedHistory, NamesNoStackThatIsNotThere) {
  HistoryWorld world;
  world.device().make_segment();
  world.device().allocate(12);

  const history::History history = world.read();

  EXPECT_EQ(history.devices.at(0).events.at(1).stack, 0U);
  EXPECT_EQ(history.devices.at(0).segments.at(0).blocks.at(0).stack, 0U);
}

TEST(DamagedHistory, OfAnotherProcessIsNotFoundBesideASegment) {
  HistoryWorld world;
  const TemporaryDirectory directory;
  auto other = segment::SegmentWriter::create(options_in(directory));
  write_file(std::string{other.value().path()} + ".hist", read_file(world.path()));
  const auto segment = segment::SegmentReader::open(other.value().path());

  EXPECT_EQ(history::HistoryReader::beside(segment.value()).error().code, ErrorCode::BadFormat);
}

}  // namespace
}  // namespace tidemark::test
