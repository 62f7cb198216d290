#include "shared/segment/record_scan.hpp"

#include <algorithm>
#include <new>

#include "shared/segment/record_copy.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::segment {

RecordScan::RecordScan(int fd, FileRange whole) noexcept
    : fd_(fd), whole_(whole), memory_(new (std::nothrow) std::uint64_t[kReads * whole.words()]) {
  read(Read::Before, whole);
}

void RecordScan::read(Read which, FileRange range) noexcept {
  is_done_[static_cast<std::size_t>(which)] =
      memory_ != nullptr &&
      read_exactly(fd_, std::as_writable_bytes(std::span{words_of(which, range.begin), range.words()}), range.begin);
  // The kernel copies for us with loads of its own: the fence keeps the reads in order on this processor.
  fence_after_words();
}

std::uint64_t RecordScan::first_word(std::uint64_t offset) const noexcept {
  return is_done(Read::Before) && whole_.holds(offset, sizeof(std::uint64_t)) ? *words_of(Read::Before, offset) : 0;
}

void RecordScan::read_words(FileRange part) noexcept {
  part_ = part;
  read(Read::Words, part);
}

void RecordScan::read_again() noexcept { read(Read::After, part_); }

bool RecordScan::take(std::uint64_t offset, std::span<std::uint64_t> words) const noexcept {
  if (!is_done(Read::Before) || !is_done(Read::Words) || !is_done(Read::After) ||
      !part_.holds(offset, words.size_bytes())) {
    return false;
  }
  // An 8-byte read of the kernel is not promised to be one load; that it errs alike three times is not to be feared.
  const std::uint64_t sequence = *words_of(Read::Words, offset);
  if ((sequence & 1) != 0 || *words_of(Read::Before, offset) != sequence ||
      *words_of(Read::After, offset) != sequence) {
    return false;
  }
  std::copy_n(words_of(Read::Words, offset), words.size(), words.begin());
  return true;
}

}  // namespace tidemark::segment
