// Consistent copies of records in a file that another process is writing, with pread and nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shared/segment/record_scan.hpp"
#include "shared/segment/sequence.hpp"
#include "shared/segment/text.hpp"

namespace tidemark::segment {

// Exactly `bytes.size()` bytes at `offset`, or false (the file is shorter, or failed).
[[nodiscard]] bool read_exactly(int fd, std::span<std::byte> bytes, std::uint64_t offset) noexcept;

enum class CopyOutcome {
  Consistent,
  Approximate,  // no quiet moment within the budget: each word is right, together they may not be
  Failed,       // the file is shorter than it was
};

// Copies words of the record at `offset`, whose first word is its sequence. A writer that never pauses is outrun by
// trying again; one that stands still in the middle of an update is waited for with sleeps, up to the budget.
[[nodiscard]] CopyOutcome copy_record(int fd, std::uint64_t offset, std::span<std::uint64_t> words,
                                      const ReadBudget& budget) noexcept;

// A private copy of a record. What the file's (maybe smaller) record doesn't have is 0.
template <class Record>
class RecordImage {
 public:
  static constexpr std::size_t kWords = sizeof(Record) / sizeof(std::uint64_t);

  CopyOutcome copy(int fd, std::uint64_t offset, std::size_t stride, const ReadBudget& budget) noexcept {
    return copy_record(fd, offset, words_up_to(stride), budget);
  }
  // From a scan of `fd`, and only where the record moved meanwhile by itself.
  CopyOutcome copy(const RecordScan& scan, int fd, std::uint64_t offset, std::size_t stride,
                   const ReadBudget& budget) noexcept {
    return scan.take(offset, words_up_to(stride)) ? CopyOutcome::Consistent : copy(fd, offset, stride, budget);
  }
  // As many words of the file's record as we know and it has.
  [[nodiscard]] std::span<std::uint64_t> words_up_to(std::size_t stride) noexcept {
    return std::span{words_}.first(std::min(kWords, stride / sizeof(std::uint64_t)));
  }

  // `offset` is offsetof(Record, field).
  [[nodiscard]] std::uint64_t word(std::size_t offset) const noexcept { return words_[offset / sizeof(std::uint64_t)]; }
  [[nodiscard]] std::span<const std::uint64_t> words(std::size_t offset, std::size_t count) const noexcept {
    return std::span{words_}.subspan(offset / sizeof(std::uint64_t), count);
  }
  [[nodiscard]] std::string text(std::size_t offset, std::size_t count) const {
    const auto bytes = std::as_bytes(words(offset, count));
    return clean_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace tidemark::segment
