// The one writer of a device's part of a history: its ring of events, its tables of blocks and segments.
//
// Threads: under the device's lock. Never blocks, allocates or reads what it wrote. An event that finds its reader in
// the middle costs the reader a retry; one that finds its process killed is whole or has not been (layout.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/device_basis.hpp"
#include "shared/history/layout.hpp"
#include "shared/history/table_sizes.hpp"
#include "shared/segment/process_words.hpp"

namespace tidemark::history {

struct EventWords {
  Action action = Action::None;
  bool is_large = false;
  StackId stack = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t context = 0;
  std::uint64_t device_free = 0;
};

struct BlockWords {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  std::uint64_t birth_ns = 0;  // 0: before the recording
  BlockState state = BlockState::None;
  StackId stack = 0;
  std::uint32_t segment = 0;
  std::uint64_t segment_serial = 0;
  std::uint32_t birth_beat = 0;
};

struct SegmentWords {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t serial = 0;  // of all segments of the device another one; 0: there is none any more
  std::uint64_t context = 0;
  bool is_large = false;
  bool passed_through = false;
  bool pinned = false;
  StackId stack = 0;
  std::uint64_t birth_ns = 0;
};

[[nodiscard]] Line line_of(const BlockWords& block) noexcept;
[[nodiscard]] Line line_of(const SegmentWords& segment) noexcept;

// What one event changes besides the ring.
class Changes {
 public:
  static constexpr std::size_t kMost = kJournalLines - 2;  // the ring's and the counts' lines are the others

  // Requires: fewer than kMost so far.
  void block(std::uint32_t number, const BlockWords& block) noexcept { add(number, false, line_of(block)); }
  void no_block(std::uint32_t number) noexcept { add(number, false, Line{}); }
  void segment(std::uint32_t number, const SegmentWords& segment) noexcept { add(number, true, line_of(segment)); }
  void no_segment(std::uint32_t number) noexcept { add(number, true, Line{}); }

 private:
  friend class DeviceWriter;
  struct Change {
    std::uint32_t number;
    bool is_segment;
    Line line;
  };
  void add(std::uint32_t number, bool is_segment, const Line& line) noexcept {
    changes_[count_++] = {number, is_segment, line};
  }

  std::size_t count_ = 0;
  Change changes_[kMost];  // uninitialised: the first `count_` are filled
};

class DeviceWriter {
 public:
  // Writes nowhere.
  DeviceWriter() = default;
  // Requires: both zeroed; `area` lies `area_offset` bytes after the start of the file and has sizes.bytes().
  DeviceWriter(DeviceRecord& record, std::byte* area, std::uint64_t area_offset, const DeviceSizes& sizes) noexcept;

  // The device as it is now, before its first event; open() shows it to readers.
  void describe(const segment::DeviceInfo& info, std::uint32_t slot, std::uint64_t since_ns) noexcept;
  void put(std::uint32_t number, const BlockWords& block) noexcept;
  void put(std::uint32_t number, const SegmentWords& segment) noexcept;
  void put_counters(const DeviceBasis& basis) noexcept;
  void open() noexcept;

  // Action::None: no event, only what it changes.
  void record(const EventWords& event, const Changes& changes) noexcept;

  // The events of another history, as many of the last ones as there is room for, before the first one of this.
  // Requires: the lock of `from`, too.
  void copy_events(const DeviceWriter& from) noexcept;
  // Entries that the ring has, at most its room. Any thread.
  [[nodiscard]] std::uint64_t events_kept() noexcept;

  [[nodiscard]] const DeviceSizes& sizes() const noexcept { return sizes_; }

 private:
  [[nodiscard]] std::uint64_t room_for(const Changes::Change& change) noexcept;
  [[nodiscard]] Line counts_line() const noexcept;
  [[nodiscard]] Word* words_at(std::uint64_t file_offset) const noexcept;
  [[nodiscard]] std::uint64_t blocks_offset() const noexcept { return area_offset_ + sizes_.ring * kLineBytes; }
  [[nodiscard]] std::uint64_t segments_offset() const noexcept { return blocks_offset() + sizes_.blocks * kLineBytes; }

  DeviceRecord* record_ = nullptr;
  std::byte* area_ = nullptr;
  std::uint64_t area_offset_ = 0;
  DeviceSizes sizes_;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t ring_place_ = 0;  // of the next event
  std::uint64_t blocks_used_ = 0;
  std::uint64_t segments_used_ = 0;
  std::uint64_t blocks_lost_ = 0;
  std::uint64_t segments_lost_ = 0;
};

}  // namespace tidemark::history
