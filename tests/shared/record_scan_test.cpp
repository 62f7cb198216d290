// Many records in three reads of the file: taken where they lay still, refused where not.
#include "shared/segment/record_scan.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "shared/segment/layout.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/record_copy.hpp"
#include "tests/shared/busy_writer.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::segment {
namespace {

using test::BusyWriter;
using test::filled_with;
using test::is_torn;

// A scan of a device whose writer the test drives between the reads.
class RecordScans : public testing::Test {
 protected:
  static constexpr std::uint64_t kRecord = offsetof(SegmentLayout, devices);
  static constexpr FileRange kWhole{.begin = 0, .end = kSegmentBytes};
  static constexpr FileRange kPart{.begin = kRecord, .end = kRecord + sizeof(DeviceRecord)};

  bool take(const RecordScan& scan) { return scan.take(kRecord, image.words_up_to(sizeof(DeviceRecord))); }
  void publish() { slot.publish(filled_with(++published), kAllBasisLines); }

  test::TemporaryDirectory directory;
  SegmentWriter writer = SegmentWriter::create(test::options_in(directory)).value();
  DeviceSlot slot = writer.claim_device(test::sample_device(), filled_with(0)).value();
  FileHandle file{::open(writer.path(), O_RDONLY | O_CLOEXEC)};
  RecordImage<DeviceRecord> image;
  std::uint64_t published = 0;
};

TEST_F(RecordScans, TakeARecordThatLayStill) {
  publish();

  RecordScan scan{file.get(), kWhole};
  EXPECT_EQ(scan.first_word(kRecord + offsetof(DeviceRecord, state)), 1u);
  scan.read_words(kPart);
  EXPECT_FALSE(take(scan)) << "nothing says yet that it lay still";
  scan.read_again();

  EXPECT_TRUE(take(scan));
  EXPECT_EQ(image.word(offsetof(DeviceRecord, basis)), 1u);
}

TEST_F(RecordScans, RefuseARecordThatMovedBetweenAnyTwoReads) {
  for (const int moment : {1, 2}) {
    RecordScan scan{file.get(), kWhole};
    if (moment == 1) {
      publish();
    }
    scan.read_words(kPart);
    if (moment == 2) {
      publish();
    }
    scan.read_again();

    EXPECT_FALSE(take(scan)) << "after read " << moment;
  }
}

TEST_F(RecordScans, RefuseARecordThatIsBeingWritten) {
  auto& record = reinterpret_cast<SegmentLayout*>(test::mapping_of(writer.path()))->devices[slot.index()];
  std::uint64_t sequence = record.sequence.load();
  const WriteSection section{record.sequence, sequence};

  RecordScan scan{file.get(), kWhole};
  scan.read_words(kPart);
  scan.read_again();

  EXPECT_FALSE(take(scan));
}

TEST_F(RecordScans, TakeOnlyWhatTheyRead) {
  RecordScan scan{file.get(), kWhole};
  scan.read_words(kPart);
  scan.read_again();
  const auto words = image.words_up_to(sizeof(DeviceRecord));

  EXPECT_FALSE(scan.take(kRecord + sizeof(DeviceRecord), words));
  EXPECT_FALSE(scan.take(kRecord - 8, words));
  EXPECT_FALSE(scan.take(kSegmentBytes, words));
  EXPECT_FALSE(scan.take(UINT64_MAX - 7, words));
}

TEST_F(RecordScans, OfAFileThatShrankTakeNothing) {
  ASSERT_EQ(::chmod(writer.path(), 0600), 0);
  for (const int moment : {0, 1, 2}) {
    const auto cut_at = [&](int now) {
      ASSERT_EQ(::truncate(writer.path(), now == moment ? 0 : static_cast<off_t>(kSegmentBytes)), 0);
    };
    cut_at(-1);
    RecordScan scan{file.get(), {.begin = 0, .end = moment == 0 ? kSegmentBytes + 8 : kSegmentBytes}};
    cut_at(1);
    scan.read_words(kPart);
    cut_at(2);
    scan.read_again();

    EXPECT_FALSE(take(scan)) << moment;
    EXPECT_EQ(scan.first_word(kSegmentBytes), 0u);
  }
}

// The same where nobody drives: what is taken is of one moment.
TEST(RecordScan, TakesNoTornRecordOfAnotherProcess) {
  const BusyWriter writer{1000};
  const FileHandle file{::open(writer.path().c_str(), O_RDONLY | O_CLOEXEC)};
  constexpr std::uint64_t kRecord = offsetof(SegmentLayout, devices);
  std::uint64_t torn = 0;
  std::uint64_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    RecordScan scan{file.get(), {.begin = 0, .end = kSegmentBytes}};
    scan.read_words({.begin = kRecord, .end = kRecord + sizeof(DeviceRecord)});
    scan.read_again();
    RecordImage<DeviceRecord> image;
    if (scan.take(kRecord, image.words_up_to(sizeof(DeviceRecord)))) {
      DeviceBasis basis;
      std::ranges::copy(image.words(offsetof(DeviceRecord, basis), kBasisWords), basis.words.begin());
      ++taken;
      torn += is_torn(basis) ? 1u : 0u;
    }
  }

  RecordProperty("taken_of_20000", static_cast<int>(taken));
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(taken, 0u);
}

// A record that moves while others lie still costs nobody but itself.
TEST(SegmentReader, ReadsRestlessAndQuietDevicesInOneLook) {
  const test::TemporaryDirectory directory;
  test::Bell ready;
  const test::Child child{[&] {
    auto writer = SegmentWriter::create(test::options_in(directory)).value();
    auto quiet = writer.claim_device(test::sample_device(0), filled_with(42)).value();
    auto restless = writer.claim_device(test::sample_device(1), filled_with(0)).value();
    ready.ring();
    for (std::uint64_t i = 1;; ++i) {
      restless.publish(filled_with(i), kAllBasisLines);
      for (std::atomic<std::uint64_t> spin{0}; spin < 200; ++spin) {
      }
    }
    return quiet.is_published() ? 0 : 1;
  }};
  ASSERT_TRUE(ready.wait());
  const SegmentReader reader = SegmentReader::open(directory / directory.entries().at(0)).value();

  std::uint64_t last = 0;
  for (int i = 0; i < 500 || last == 0; ++i) {  // on a busy machine the child may come late
    const ProcessSnapshot snapshot = reader.snapshot();
    ASSERT_EQ(snapshot.devices.size(), 2u);
    EXPECT_EQ(snapshot.devices[0].basis.words, filled_with(42).words);
    EXPECT_FALSE(snapshot.devices[0].approximate);
    const DeviceSnapshot& restless = snapshot.devices[1];
    EXPECT_TRUE(restless.approximate || !is_torn(restless.basis));
    EXPECT_GE(restless.basis.words[0], last);
    last = restless.basis.words[0];
  }
}

}  // namespace
}  // namespace tidemark::segment
