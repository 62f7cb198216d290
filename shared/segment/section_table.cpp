#include "shared/segment/section_table.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "shared/segment/layout.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::segment {
namespace {

// The fixed-size words of Head and SectionEntry, as plain values in the same places.
struct HeadImage {
  std::uint64_t magic;
  std::uint16_t major;
  std::uint16_t minor;
  std::uint16_t min_reader_minor;
  std::uint8_t pointer_bits;
  std::uint8_t endian_tag;
  std::uint32_t header_bytes;
  std::uint32_t total_bytes;
  std::uint32_t section_count;
  std::uint32_t section_table_offset;
  std::uint64_t nonce;
  std::uint32_t state;
  std::uint32_t features;
  std::uint64_t layout_hash;
  std::uint64_t reserved;
};
static_assert(sizeof(HeadImage) == sizeof(Head) && offsetof(HeadImage, nonce) == offsetof(Head, nonce) &&
              offsetof(HeadImage, state) == offsetof(Head, state));

struct SectionImage {
  std::uint32_t type;
  std::uint16_t version;
  std::uint16_t flags;
  std::uint32_t offset;
  std::uint32_t stride;
  std::uint32_t count;
  std::uint32_t bytes;
  std::uint64_t reserved;
};
static_assert(sizeof(SectionImage) == sizeof(SectionEntry) &&
              offsetof(SectionImage, bytes) == offsetof(SectionEntry, bytes));

template <class Image>
bool read_image(const FirstPage& page, Image& image, std::uint64_t offset) {
  return page.read(std::as_writable_bytes(std::span{&image, 1}), offset);
}

Status check_head(const HeadImage& head, std::uint64_t file_bytes) {
  if (head.magic != kMagic || head.endian_tag != 1) {
    return Error{ErrorCode::BadFormat};
  }
  const bool is_same_version = head.major == kMajor && head.minor == kMinor;
  if (head.major != kMajor || head.min_reader_minor > kMinor || (is_same_version && head.layout_hash != kLayoutHash)) {
    return Error{ErrorCode::WrongVersion};
  }
  const bool is_state_known = head.state == static_cast<std::uint32_t>(SegmentState::Ready) ||
                              head.state == static_cast<std::uint32_t>(SegmentState::Exited);
  if (head.total_bytes != file_bytes || !is_state_known) {
    return Error{ErrorCode::BadFormat};
  }
  return {};
}

bool is_sound(const SectionImage& section, std::uint64_t file_bytes) {
  constexpr std::uint32_t kSmallestStride = 64;
  constexpr std::uint32_t kMostRecords = 1024;
  const std::uint64_t bytes = std::uint64_t{section.stride} * section.count;
  return section.stride >= kSmallestStride && section.stride % 8 == 0 && section.offset % 8 == 0 && section.count > 0 &&
         section.count <= kMostRecords && bytes == section.bytes && section.offset >= sizeof(Head) &&
         section.offset + bytes <= file_bytes;
}

Section* place_of(Sections& sections, SectionType type) {
  switch (type) {
    case SectionType::Identity:
      return &sections.identity;
    case SectionType::Global:
      return &sections.global;
    case SectionType::DeviceInfo:
      return &sections.device_info;
    case SectionType::Devices:
      return &sections.devices;
    case SectionType::Acks:
      return &sections.acks;
    case SectionType::Kinds:
      return &sections.kinds;
    case SectionType::HostKinds:
      return &sections.host_kinds;
    case SectionType::Coverage:
      return &sections.coverage;
    case SectionType::Settings:
      return &sections.settings;
    default:
      return nullptr;  // of a newer minor: skipped
  }
}

Result<Sections> read_sections(const FirstPage& page, const HeadImage& head, std::uint64_t file_bytes) {
  constexpr std::uint32_t kMostSections = 256;
  const std::uint64_t table = head.section_table_offset;
  if (head.section_count > kMostSections || table % 8 != 0 ||
      table + std::uint64_t{head.section_count} * sizeof(SectionImage) > file_bytes) {
    return Error{ErrorCode::BadFormat};
  }
  Sections sections;
  for (std::uint32_t i = 0; i < head.section_count; ++i) {
    SectionImage entry{};
    if (!read_image(page, entry, table + std::uint64_t{i} * sizeof entry)) {
      return Error{ErrorCode::BadFormat};
    }
    Section* const known = place_of(sections, static_cast<SectionType>(entry.type));
    if (known == nullptr) {
      continue;
    }
    const bool is_second = known->count != 0;
    if (!is_sound(entry, file_bytes) || is_second) {
      return Error{ErrorCode::BadFormat};
    }
    *known = {.offset = entry.offset, .stride = entry.stride, .count = entry.count};
  }
  const bool is_complete = sections.identity.count != 0 && sections.global.count != 0 && sections.devices.count != 0 &&
                           sections.acks.count != 0 && sections.device_info.count == sections.devices.count;
  if (!is_complete) {
    return Error{ErrorCode::BadFormat};
  }
  return sections;
}

}  // namespace

Result<FirstPage> FirstPage::of(int fd) noexcept {
  FirstPage page;
  page.fd_ = fd;
  if (!read_exactly(fd, page.copy_, 0)) {
    return Error{ErrorCode::BadFormat};
  }
  return page;
}

bool FirstPage::read(std::span<std::byte> bytes, std::uint64_t offset) const noexcept {
  if (offset > copy_.size() || bytes.size() > copy_.size() - offset) {
    return read_exactly(fd_, bytes, offset);
  }
  std::copy_n(copy_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
  return true;
}

Result<CheckedHead> check_segment(const FirstPage& page, std::uint64_t file_bytes) noexcept {
  HeadImage head{};
  if (file_bytes > kMaxSegmentBytes || !read_image(page, head, 0)) {
    return Error{ErrorCode::BadFormat};
  }
  if (const Status sound = check_head(head, file_bytes); !sound) {
    return sound.error();
  }
  const Result<Sections> sections = read_sections(page, head, file_bytes);
  if (!sections) {
    return sections.error();
  }
  return CheckedHead{.nonce = head.nonce,
                     .features = head.features,
                     .has_newer_layout = head.minor > kMinor,
                     .sections = sections.value()};
}

std::uint32_t read_state(int fd) noexcept {
  std::uint32_t state = 0;
  static_cast<void>(read_exactly(fd, std::as_writable_bytes(std::span{&state, 1}), offsetof(Head, state)));
  return state;
}

}  // namespace tidemark::segment
