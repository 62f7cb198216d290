// The bytes of a real segment with one device, to be damaged.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "shared/segment/layout.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {

class SegmentImage {
 public:
  SegmentImage() {
    const TemporaryDirectory directory;
    auto writer = segment::SegmentWriter::create(options_in(directory));
    static_cast<void>(writer.value().claim_device(sample_device(), sample_basis()));
    writer.value().set_mode(segment::ProcessMode::Count, "a reason");
    bytes_ = read_file(writer.value().path());
  }

  template <class T>
  void put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    T value{};
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
  void write_to(const std::string& path) const { write_file(path, bytes_); }

  // Where entry `index` of the section table is.
  static constexpr std::size_t section(std::size_t index) {
    return offsetof(segment::SegmentLayout, sections) + index * sizeof(segment::SectionEntry);
  }
  // Adds a section of `bytes` zeros at the end and returns its offset.
  std::size_t append_section(segment::SectionType type, std::uint32_t stride, std::uint32_t count) {
    const std::size_t offset = bytes_.size();
    bytes_.resize(offset + std::size_t{stride} * count);
    const auto sections = at<std::uint32_t>(offsetof(segment::Head, section_count));
    set_section(sections, type, offset, stride, count);
    put(offsetof(segment::Head, section_count), sections + 1);
    put(offsetof(segment::Head, total_bytes), static_cast<std::uint32_t>(bytes_.size()));
    return offset;
  }
  void set_section(std::size_t index, segment::SectionType type, std::size_t offset, std::uint32_t stride,
                   std::uint32_t count) {
    const std::size_t entry = section(index);
    put(entry + offsetof(segment::SectionEntry, type), static_cast<std::uint32_t>(type));
    put(entry + offsetof(segment::SectionEntry, offset), static_cast<std::uint32_t>(offset));
    put(entry + offsetof(segment::SectionEntry, stride), stride);
    put(entry + offsetof(segment::SectionEntry, count), count);
    put(entry + offsetof(segment::SectionEntry, bytes), stride * count);
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace tidemark::test
