// How much of everything a history has room for, and where it lies.
#pragma once

#include <cstdint>

#include "shared/history/layout.hpp"
#include "shared/history/words.hpp"

namespace tidemark::history {

// Of one device, in entries.
struct DeviceSizes {
  std::uint64_t ring = 0;
  std::uint64_t blocks = 0;
  std::uint64_t segments = 0;

  [[nodiscard]] constexpr std::uint64_t bytes() const { return (ring + blocks + segments) * kLineBytes; }
};

// Of the process; of frames and text in words, else in entries.
struct ProcessSizes {
  std::uint64_t stacks = 0;
  std::uint64_t frames = 0;
  std::uint64_t strings = 0;
  std::uint64_t text = 0;
  std::uint64_t modules = 0;

  [[nodiscard]] constexpr std::uint64_t bytes() const {
    return (stacks * stack_word::kWords + frames + strings + text + modules * module_word::kWords) *
           sizeof(std::uint64_t);
  }
};

struct Settings {
  Enabled enabled = Enabled::All;
  Stacks stacks = Stacks::None;
  std::uint64_t max_entries = kDefaultEntries;

  bool operator==(const Settings&) const = default;
};

// Requires: max_entries <= kMostEntries.
[[nodiscard]] DeviceSizes device_sizes(const Settings& settings) noexcept;
[[nodiscard]] ProcessSizes process_sizes(const Settings& settings) noexcept;

// Where areas begin: behind the process's tables, on a page of their own.
[[nodiscard]] std::uint64_t first_area_offset(const ProcessSizes& sizes) noexcept;
[[nodiscard]] std::uint64_t area_bytes(const DeviceSizes& sizes) noexcept;  // whole pages

// What stays as it is: head, and INFO without counts. Requires: zeroed memory.
struct FileWords {
  Kind kind = Kind::Live;
  Reason reason = Reason::None;
  std::uint64_t nonce = 0;
  std::uint64_t pid = 0;
  Settings settings;
  std::uint64_t start_realtime_ns = 0;
  std::uint64_t start_monotonic_ns = 0;
  std::uint64_t taken_monotonic_ns = 0;
  const segment::IdentityRecord* identity = nullptr;  // whose label and command it gets; null: nobody's
};
void fill_process_words(Layout& layout, const FileWords& words, const ProcessSizes& sizes,
                        std::uint64_t total_bytes) noexcept;

}  // namespace tidemark::history
