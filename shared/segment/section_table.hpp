// Checks a file's head and section table before anything else in it is looked at.
#pragma once

#include <cstdint>

#include <array>
#include <cstddef>
#include <span>

#include "shared/base/result.hpp"

namespace tidemark::segment {

// `count` records of `stride` bytes at `offset`; all of it lies within the file, at multiples of 8.
struct Section {
  std::uint32_t offset = 0;
  std::uint32_t stride = 0;
  std::uint32_t count = 0;

  [[nodiscard]] std::uint64_t at(std::uint32_t index) const { return offset + std::uint64_t{index} * stride; }
};

struct Sections {
  Section identity;
  Section global;
  Section device_info;
  Section devices;
  Section acks;
  // Of a newer minor; count 0: the file has none.
  Section kinds;
  Section host_kinds;
  Section coverage;
  Section settings;
};

struct CheckedHead {
  std::uint64_t nonce = 0;
  std::uint32_t features = 0;
  bool has_newer_layout = false;
  Sections sections;
};

// A file and a copy of its first page, which in our own layout holds all that is read but once.
class FirstPage {
 public:
  // BadFormat: the file is shorter than that.
  [[nodiscard]] static Result<FirstPage> of(int fd) noexcept;

  // From the copy where it reaches that far.
  [[nodiscard]] bool read(std::span<std::byte> bytes, std::uint64_t offset) const noexcept;

 private:
  static constexpr std::size_t kBytes = 4096;

  int fd_ = -1;
  std::array<std::byte, kBytes> copy_;
};

// BadFormat or WrongVersion when the file is not a segment that this reader can read. `file_bytes`: by fstat.
[[nodiscard]] Result<CheckedHead> check_segment(const FirstPage& page, std::uint64_t file_bytes) noexcept;

// SegmentState of a checked file, now; 0 when it cannot be read any more.
[[nodiscard]] std::uint32_t read_state(int fd) noexcept;

}  // namespace tidemark::segment
