// Readers and files that are not what they should be: other versions, cut off, overwritten, hostile. Whatever the
// bytes, the answer is an error or a harmless snapshot.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "shared/segment/layout.hpp"
#include "shared/segment/reader.hpp"
#include "tests/shared/segment_image.hpp"

namespace tidemark::segment {
namespace {

using test::SegmentImage;

class DamagedSegment : public testing::Test {
 protected:
  // Under a name that promises nothing.
  Result<SegmentReader> open() {
    image.write_to(path);
    return SegmentReader::open(path);
  }
  ErrorCode error() { return open().error().code; }

  test::TemporaryDirectory directory;
  std::string path = directory / "copy";
  SegmentImage image;
};

TEST_F(DamagedSegment, IsReadWhereItIsWhole) {
  const ProcessSnapshot snapshot = open().value().snapshot();

  EXPECT_EQ(snapshot.state, ProcessState::Killed) << "a copy has no living owner";
  EXPECT_EQ(snapshot.devices.at(0).basis.words, test::sample_basis().words);
}

TEST_F(DamagedSegment, OfAnotherMajorVersionIsRefused) {
  image.put<std::uint16_t>(offsetof(Head, major), kMajor + 1);

  EXPECT_EQ(error(), ErrorCode::WrongVersion);
}

TEST_F(DamagedSegment, OfANewerMinorIsReadAsFarAsKnown) {
  image.put<std::uint16_t>(offsetof(Head, minor), kMinor + 1);
  image.put<std::uint64_t>(offsetof(Head, layout_hash), 12345);
  image.append_section(static_cast<SectionType>(4711), 24, 3);  // too small for any we know

  const auto reader = open();

  ASSERT_TRUE(reader.ok());
  const ProcessSnapshot snapshot = reader.value().snapshot();
  EXPECT_TRUE(snapshot.has_newer_layout);
  EXPECT_EQ(snapshot.devices.at(0).basis.words, test::sample_basis().words);
}

TEST_F(DamagedSegment, MayHaveLongerRecords) {
  constexpr std::uint32_t kLonger = sizeof(DeviceRecord) + 128;
  image.put<std::uint16_t>(offsetof(Head, minor), kMinor + 1);
  const std::size_t moved = image.bytes().size();
  image.bytes().resize(moved + std::size_t{kLonger} * kDeviceSlots);
  std::memcpy(image.bytes().data() + moved + kLonger, image.bytes().data() + offsetof(SegmentLayout, devices),
              sizeof(DeviceRecord));  // our device becomes slot 1
  std::memcpy(image.bytes().data() + offsetof(SegmentLayout, device_info) + sizeof(DeviceInfoRecord),
              image.bytes().data() + offsetof(SegmentLayout, device_info), sizeof(DeviceInfoRecord));
  image.put(offsetof(Head, total_bytes), static_cast<std::uint32_t>(image.bytes().size()));
  image.set_section(3, SectionType::Devices, moved, kLonger, kDeviceSlots);

  const auto reader = open();

  ASSERT_TRUE(reader.ok());
  const ProcessSnapshot snapshot = reader.value().snapshot();
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].slot, 1u);
  EXPECT_EQ(snapshot.devices[0].basis.words, test::sample_basis().words);
}

TEST_F(DamagedSegment, MayHaveShorterRecords) {
  image.set_section(2, SectionType::DeviceInfo, offsetof(SegmentLayout, device_info), 64, kDeviceSlots);
  image.put<std::uint16_t>(offsetof(Head, minor), kMinor + 1);  // so that the hash doesn't matter

  const DeviceInfo info = open().value().snapshot().devices.at(0).info;

  EXPECT_EQ(info.backend, Backend::Mtia);
  EXPECT_EQ(info.name.view(), "") << "beyond the record: unknown";
}

TEST_F(DamagedSegment, ThatOldReadersWouldMisreadIsRefused) {
  image.put<std::uint16_t>(offsetof(Head, minor), kMinor + 1);
  image.put<std::uint16_t>(offsetof(Head, min_reader_minor), kMinor + 1);

  EXPECT_EQ(error(), ErrorCode::WrongVersion);
}

TEST_F(DamagedSegment, ThatWasEditedWithoutANewVersionIsRefused) {
  image.put<std::uint64_t>(offsetof(Head, layout_hash), kLayoutHash ^ 1);

  EXPECT_EQ(error(), ErrorCode::WrongVersion);
}

TEST_F(DamagedSegment, UnderAnotherSegmentsNameIsRefused) {
  path = directory / std::string{stats_name({.uid = 1, .pid = 2, .nonce = 3}).view()};

  EXPECT_EQ(error(), ErrorCode::BadFormat);
}

TEST_F(DamagedSegment, WithSectionsThatCannotBeIsRefused) {
  struct Case {
    const char* what;
    std::size_t field;
    std::uint32_t value;
  };
  for (const auto& [what, field, value] : {
           Case{"beyond the end", offsetof(SectionEntry, offset), kSegmentBytes},
           Case{"offset that overflows", offsetof(SectionEntry, offset), 0xFFFFFFF8},
           Case{"over the head", offsetof(SectionEntry, offset), 0},
           Case{"crooked", offsetof(SectionEntry, offset), 6145},
           Case{"stride 0", offsetof(SectionEntry, stride), 0},
           Case{"stride 8", offsetof(SectionEntry, stride), 8},
           Case{"stride and count that overflow", offsetof(SectionEntry, stride), 0x10000000},
           Case{"no records", offsetof(SectionEntry, count), 0},
           Case{"4 billion records", offsetof(SectionEntry, count), 0xFFFFFFFF},
           Case{"a size of its own", offsetof(SectionEntry, bytes), 4096},
           Case{"a second ACKS", offsetof(SectionEntry, type), static_cast<std::uint32_t>(SectionType::Acks)},
           Case{"no DEVICES", offsetof(SectionEntry, type), 4711},
       }) {
    image = SegmentImage{};
    image.put(SegmentImage::section(3) + field, value);
    EXPECT_EQ(error(), ErrorCode::BadFormat) << what;
  }
}

TEST_F(DamagedSegment, OfAnySmallerOrLargerSizeIsRefused) {
  image.write_to(path);
  for (const off_t larger : {off_t{1} << 40, static_cast<off_t>(kSegmentBytes) + 8}) {
    ASSERT_EQ(::truncate(path.c_str(), larger), 0);
    EXPECT_EQ(SegmentReader::open(path).error().code, ErrorCode::BadFormat) << larger;
  }
  for (auto size = static_cast<off_t>(kSegmentBytes) - 1; size >= 0; size -= size < 2048 ? 1 : 61) {
    ASSERT_EQ(::truncate(path.c_str(), size), 0);
    ASSERT_EQ(SegmentReader::open(path).error().code, ErrorCode::BadFormat) << size;
  }
}

TEST_F(DamagedSegment, MayShrinkUnderAnOpenReader) {
  for (off_t size = 0; size < static_cast<off_t>(kSegmentBytes); size += 509) {
    const auto reader = open();
    ASSERT_EQ(::truncate(path.c_str(), size), 0);

    const ProcessSnapshot snapshot = reader.value().snapshot();

    EXPECT_LE(snapshot.devices.size(), 1u);
    EXPECT_EQ(snapshot.identity.pid, ::getpid()) << "read when it was whole";
    static_cast<void>(reader.value().acknowledgement(3));
    reader.value().wait_for_bell(reader.value().ack_bell(), std::chrono::nanoseconds{1});
  }
}

TEST_F(DamagedSegment, IsNotAFifoADirectoryOrALink) {
  const std::string fifo = directory / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  image.write_to(path);
  ASSERT_EQ(::symlink(path.c_str(), (directory / "link").c_str()), 0);

  EXPECT_EQ(SegmentReader::open(fifo).error().code, ErrorCode::BadFormat);
  EXPECT_EQ(SegmentReader::open(directory.path()).error().code, ErrorCode::BadFormat);
  EXPECT_EQ(SegmentReader::open(directory / "link").error().code, ErrorCode::BadFormat);
  EXPECT_EQ(SegmentReader::open("/dev/null").error().code, ErrorCode::BadFormat);
  EXPECT_EQ(SegmentReader::open(directory / "nothing").error().code, ErrorCode::NotFound);
}

// What a viewer may do with any result; sanitizers watch.
void use(const Result<SegmentReader>& reader) {
  if (!reader) {
    EXPECT_TRUE(reader.error().code == ErrorCode::BadFormat || reader.error().code == ErrorCode::WrongVersion);
    return;
  }
  const ProcessSnapshot snapshot = reader.value().snapshot();
  EXPECT_LE(snapshot.devices.size(), 1024u);
  for (const std::string* text :
       {&snapshot.identity.label, &snapshot.identity.command, &snapshot.globals.mode_reason}) {
    EXPECT_EQ(text->find('\x1b'), std::string::npos);
  }
  static_cast<void>(reader.value().acknowledgement(30));
  static_cast<void>(to_text(snapshot.globals.mode));
  static_cast<void>(to_text(snapshot.globals.layer));
}

TEST_F(DamagedSegment, WithAnyOneBitOfItsHeadAndTableFlippedIsHarmless) {
  image.write_to(path);
  const FileHandle file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  const auto flip_until = [&](std::size_t first, std::size_t last) {
    for (std::size_t bit = first * 8; bit < last * 8; ++bit) {
      const std::byte right = image.bytes()[bit / 8];
      const std::byte wrong = right ^ std::byte{static_cast<unsigned char>(1u << (bit % 8))};
      ASSERT_EQ(::pwrite(file.get(), &wrong, 1, static_cast<off_t>(bit / 8)), 1);
      use(SegmentReader::open(path));
      ASSERT_EQ(::pwrite(file.get(), &right, 1, static_cast<off_t>(bit / 8)), 1);
    }
  };

  flip_until(0, sizeof(Head));
  flip_until(SegmentImage::section(0), SegmentImage::section(6));
}

TEST_F(DamagedSegment, WithRandomDamageIsHarmless) {
  std::mt19937_64 random{20240607};
  image.write_to(path);
  const FileHandle file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  constexpr std::uint64_t kInteresting[] = {0,          1,          0x7FFFFFFF, 0x80000000,
                                            0xFFFFFFFF, UINT64_MAX, INT64_MAX,  0x1B5B1B5B};
  for (int round = 0; round < 3000; ++round) {
    auto damaged = image.bytes();
    for (std::uint64_t n = 1 + random() % 12; n > 0; --n) {
      // Half of the damage goes where the structure is.
      const std::size_t range = random() % 2 == 0 ? SegmentImage::section(8) : damaged.size();
      const std::size_t at = random() % (range / 4) * 4;
      const std::uint64_t value = random() % 2 == 0 ? random() : kInteresting[random() % std::size(kInteresting)];
      std::memcpy(damaged.data() + at, &value, 4);
    }
    ASSERT_EQ(::pwrite(file.get(), damaged.data(), damaged.size(), 0), static_cast<ssize_t>(damaged.size()));
    use(SegmentReader::open(path));
  }
}

}  // namespace
}  // namespace tidemark::segment
