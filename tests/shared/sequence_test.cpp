// The sequence lock between threads of one process (where tsan sees both sides) and between processes.
#include "shared/segment/sequence.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "shared/segment/reader.hpp"
#include "shared/segment/record_copy.hpp"
#include "tests/shared/busy_writer.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::segment {
namespace {

using test::BusyWriter;
using test::filled_with;
using test::is_torn;

bool copy(const DeviceRecord& record, DeviceBasis& basis) {
  return try_copy(record.sequence, std::span<const Word, kBasisWords>{record.basis},
                  std::span<std::uint64_t, kBasisWords>{basis.words});
}

TEST(SequenceLock, CopiesWhatWasWritten) {
  DeviceRecord record{};
  std::uint64_t own = 0;
  DeviceBasis read;
  {
    const WriteSection section{record.sequence, own};
    store_lines(record.basis, test::sample_basis(), kAllBasisLines);
  }

  EXPECT_TRUE(copy(record, read));
  EXPECT_EQ(read.words, test::sample_basis().words);
  EXPECT_EQ(own, 2u);
}

TEST(SequenceLock, RefusesACopyDuringAWrite) {
  DeviceRecord record{};
  std::uint64_t own = 0;
  DeviceBasis read;
  {
    const WriteSection section{record.sequence, own};
    EXPECT_FALSE(copy(record, read));
  }
  EXPECT_TRUE(copy(record, read));
}

TEST(SequenceLock, StoresOnlyTheLinesThatChanged) {
  DeviceRecord record{};
  std::uint64_t own = 0;
  const BasisLines changed = line_of(BasisWord::small_live_blocks) | line_of(BasisWord::oom_time_ns);
  {
    const WriteSection section{record.sequence, own};
    store_lines(record.basis, filled_with(7), changed | ~kAllBasisLines);  // bits beyond the last line mean nothing
  }

  for (std::size_t i = 0; i < kBasisWords; ++i) {
    const bool is_in_a_changed_line = i < kWordsPerLine || i >= kBasisWords - kWordsPerLine;
    EXPECT_EQ(record.basis[i].load(), is_in_a_changed_line ? 7u : 0u) << i;
  }
}

TEST(SequenceLock, GivesNoTornCopyToAnotherThread) {
  const auto record = std::make_unique<DeviceRecord>();
  std::atomic<bool> is_finished{false};
  std::thread writer{[&] {
    std::uint64_t own = 0;
    for (std::uint64_t i = 1; i <= 100'000; ++i) {
      const WriteSection section{record->sequence, own};
      store_lines(record->basis, filled_with(i), kAllBasisLines);
    }
    is_finished = true;
  }};

  std::uint64_t torn = 0;
  std::uint64_t last = 0;
  for (bool again = true; again;) {
    again = !is_finished;  // one more look after the last write, so that there is always one
    DeviceBasis basis;
    if (copy(*record, basis)) {
      torn += is_torn(basis) ? 1u : 0u;
      EXPECT_GE(basis.words[0], last);
      last = basis.words[0];
    }
  }
  writer.join();

  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(last, 100'000u);
}

TEST(SequenceLock, GivesNoTornCopyToAnotherProcess) {
  const BusyWriter writer{20};
  const FileHandle file{::open(writer.path().c_str(), O_RDONLY | O_CLOEXEC)};
  std::uint64_t torn = 0;
  std::uint64_t consistent = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < 20'000; ++i) {
    RecordImage<DeviceRecord> image;
    if (image.copy(file.get(), offsetof(SegmentLayout, devices), sizeof(DeviceRecord), {}) == CopyOutcome::Consistent) {
      DeviceBasis basis;
      std::ranges::copy(image.words(offsetof(DeviceRecord, basis), kBasisWords), basis.words.begin());
      ++consistent;
      torn += is_torn(basis) ? 1u : 0u;
      EXPECT_GE(basis.words[0], last);
      last = basis.words[0];
    }
  }

  RecordProperty("consistent_of_20000", static_cast<int>(consistent));
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(consistent, 0u);
}

// The worst there is: back to back. A viewer still gets its numbers, and says so where they are not of one moment.
TEST(SequenceLock, LetsAReaderThroughToABusyWriter) {
  const BusyWriter writer{0};
  const auto reader = SegmentReader::open(writer.path());
  ASSERT_TRUE(reader.ok());

  std::uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const ProcessSnapshot snapshot = reader.value().snapshot();
    ASSERT_EQ(snapshot.devices.size(), 1u);
    if (!snapshot.devices[0].approximate) {
      EXPECT_FALSE(is_torn(snapshot.devices[0].basis));
    }
    EXPECT_GE(snapshot.devices[0].basis.words[0], last);
    last = snapshot.devices[0].basis.words[0];
  }
  EXPECT_GT(last, 0u);
}

}  // namespace
}  // namespace tidemark::segment
