// Consistent copies of many records at once: three reads of the range they lie in, instead of three for each of them.
//
// The first read sees each record's sequence before any of its words is copied by the second, the third sees it after.
// Even and the same in all three: no word moved in between. A record for which that isn't so has to be copied again by
// itself, with patience (record_copy.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tidemark::segment {

// A range of a file, and a private copy of it.
struct FileRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::size_t words() const noexcept { return (end - begin) / sizeof(std::uint64_t); }
  [[nodiscard]] bool holds(std::uint64_t offset, std::size_t bytes) const noexcept {
    return offset >= begin && offset <= end && bytes <= end - offset;
  }
};

class RecordScan {
 public:
  // The first read. Requires: `whole` begins and ends at multiples of 8.
  RecordScan(int fd, FileRange whole) noexcept;

  // A word as the first read saw it; 0 where that failed. It says what is worth a closer look, nothing more.
  [[nodiscard]] std::uint64_t first_word(std::uint64_t offset) const noexcept;

  // The second read and the third, in this order, of the part of it that is wanted.
  void read_words(FileRange part) noexcept;
  void read_again() noexcept;

  // Copies words of the record at `offset`, whose first word is its sequence; false: it moved, or was not read.
  [[nodiscard]] bool take(std::uint64_t offset, std::span<std::uint64_t> words) const noexcept;

 private:
  enum class Read : std::size_t { Before, Words, After };
  static constexpr std::size_t kReads = 3;

  [[nodiscard]] std::uint64_t* words_of(Read which, std::uint64_t offset) const noexcept {
    return memory_.get() + static_cast<std::size_t>(which) * whole_.words() +
           (offset - whole_.begin) / sizeof(std::uint64_t);
  }
  [[nodiscard]] bool is_done(Read which) const noexcept { return is_done_[static_cast<std::size_t>(which)]; }
  void read(Read which, FileRange range) noexcept;

  int fd_;
  FileRange whole_;
  FileRange part_;
  std::unique_ptr<std::uint64_t[]> memory_;  // of all three, each as large as the whole
  std::array<bool, kReads> is_done_{};
};

}  // namespace tidemark::segment
