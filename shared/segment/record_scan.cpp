#include "shared/segment/record_scan.hpp"

#include <algorithm>
#include <new>

#include "shared/segment/record_copy.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::segment {

RecordScan::RecordScan(int fd, FileRange whole) noexcept : fd_(fd), whole_(whole), before_(read(whole)) {}

RecordScan::Words RecordScan::read(FileRange range) const noexcept {
  Words words{new (std::nothrow) std::uint64_t[whole_.words()]};
  if (words == nullptr ||
      !read_exactly(fd_, std::as_writable_bytes(std::span{word_of(words, range.begin), range.words()}), range.begin)) {
    return nullptr;
  }
  // The kernel copies for us with loads of its own: the fence keeps the reads in order on this processor.
  fence_after_words();
  return words;
}

std::uint64_t RecordScan::first_word(std::uint64_t offset) const noexcept {
  return before_ != nullptr && whole_.holds(offset, sizeof(std::uint64_t)) ? *word_of(before_, offset) : 0;
}

void RecordScan::read_words(FileRange part) noexcept {
  part_ = part;
  words_ = read(part);
}

void RecordScan::read_again() noexcept { after_ = read(part_); }

bool RecordScan::take(std::uint64_t offset, std::span<std::uint64_t> words) const noexcept {
  const bool is_read = before_ != nullptr && words_ != nullptr && after_ != nullptr;
  if (!is_read || !part_.holds(offset, words.size_bytes())) {
    return false;
  }
  // An 8-byte read of the kernel is not promised to be one load; that it errs alike three times is not to be feared.
  const std::uint64_t sequence = *word_of(words_, offset);
  if ((sequence & 1) != 0 || *word_of(before_, offset) != sequence || *word_of(after_, offset) != sequence) {
    return false;
  }
  std::copy_n(word_of(words_, offset), words.size(), words.begin());
  return true;
}

}  // namespace tidemark::segment
