// A file of words that may say anything: what is read from it is a private copy, and never from beyond its end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/result.hpp"
#include "shared/history/layout.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::history {

class WordFile {
 public:
  WordFile() = default;
  explicit WordFile(segment::FileHandle file) noexcept : file_(std::move(file)) {}

  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  // As long as it is now: it grows with each device.
  [[nodiscard]] std::uint64_t bytes() const noexcept;

  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::uint64_t> words) const noexcept {
    return segment::read_exactly(file_.get(), std::as_writable_bytes(words), offset);
  }

 private:
  segment::FileHandle file_;
};

// Where a table lies, as the file says; empty if that cannot be.
struct Table {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;

  // `most` bounds what a reader is willing to look at.
  [[nodiscard]] static Table checked(std::uint64_t offset, std::uint64_t count, std::size_t entry_words,
                                     std::uint64_t most, std::uint64_t file_bytes) noexcept;
};

// Calls visit(index, words of the entry) for the first `count` entries, in order. False: the file ended.
template <std::size_t EntryWords, class Visit>
[[nodiscard]] bool for_each_entry(const WordFile& file, const Table& table, std::uint64_t count, Visit&& visit) {
  constexpr std::size_t kChunk = 512;
  std::array<std::uint64_t, kChunk * EntryWords> chunk;  // uninitialised: filled by what is read
  count = count < table.count ? count : table.count;
  for (std::uint64_t first = 0; first < count; first += kChunk) {
    const std::size_t entries = count - first < kChunk ? static_cast<std::size_t>(count - first) : kChunk;
    const std::span<std::uint64_t> words{chunk.data(), entries * EntryWords};
    if (!file.read(table.offset + first * EntryWords * sizeof(std::uint64_t), words)) {
      return false;
    }
    for (std::size_t i = 0; i < entries; ++i) {
      visit(first + i, std::span<std::uint64_t, EntryWords>{&words[i * EntryWords], EntryWords});
    }
  }
  return true;
}

// A private copy of one of the file's records.
template <class Record>
using RecordImage = segment::RecordImage<Record>;

}  // namespace tidemark::history
