// The version of a file beside a segment, in one word: major, minor, the least minor that a reader has to know, 64
// bits, little-endian, in 16, 16, 16, 8 and 8 bits. What they mean is said in layout.hpp.
#pragma once

#include <cstdint>

#include "shared/base/result.hpp"

namespace tidemark::segment {

struct FileVersion {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint16_t min_reader_minor = 0;
  std::uint64_t layout_hash = 0;

  [[nodiscard]] constexpr std::uint64_t word() const noexcept {
    return std::uint64_t{major} | std::uint64_t{minor} << 16 | std::uint64_t{min_reader_minor} << 32 |
           std::uint64_t{kForm} << 48;
  }

  // Can we, of this version, read a file with these words?
  [[nodiscard]] Status check(std::uint64_t version, std::uint64_t hash) const noexcept {
    const auto field = [version](unsigned shift) { return static_cast<std::uint16_t>(version >> shift); };
    if (field(48) != kForm) {
      return Error{ErrorCode::BadFormat};
    }
    const bool is_same = field(0) == major && field(16) == minor;
    if (field(0) != major || field(32) > minor || (is_same && hash != layout_hash)) {
      return Error{ErrorCode::WrongVersion};
    }
    return {};
  }

 private:
  static constexpr std::uint16_t kForm = 64 | 1 << 8;  // words of 64 bits, little-endian
};

}  // namespace tidemark::segment
