#include "shared/history/device_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "shared/segment/sequence.hpp"
#include "shared/segment/stores.hpp"

namespace tidemark::history {
namespace {

using segment::store_line;
using segment::store_text;
using segment::store_word;

static_assert(kLineWords == kWordsPerLine);

constexpr std::uint64_t pair_of(std::uint64_t low, std::uint64_t high) { return low | high << 32; }

Line line_of(const EventWords& event, std::uint64_t number) noexcept {
  return {number + 1,
          pair_of(static_cast<std::uint64_t>(event.action) | (event.is_large ? kLargePoolBit : 0), event.stack),
          event.address,
          event.size,
          event.requested,
          event.time_ns,
          event.context,
          event.device_free};
}

}  // namespace

Line line_of(const BlockWords& block) noexcept {
  return {block.address,
          block.size,
          block.requested,
          block.birth_ns,
          pair_of(static_cast<std::uint64_t>(block.state), block.stack),
          block.segment_serial,
          pair_of(block.segment, block.birth_beat),
          0};
}

Line line_of(const SegmentWords& segment) noexcept {
  const std::uint64_t flags = (segment.is_large ? kLargePoolBit : 0) | (segment.pinned ? kPinnedBit : 0) |
                              (segment.passed_through ? kPassedThroughBit : 0);
  return {segment.address,
          segment.size,
          segment.serial,
          segment.context,
          pair_of(flags, segment.stack),
          segment.birth_ns,
          0,
          0};
}

DeviceWriter::DeviceWriter(DeviceRecord& record, std::byte* area, std::uint64_t area_offset,
                           const DeviceSizes& sizes) noexcept
    : record_(&record), area_(area), area_offset_(area_offset), sizes_(sizes) {
  store_word(record.ring_offset, area_offset);
  store_word(record.ring_capacity, sizes.ring);
  store_word(record.blocks_offset, blocks_offset());
  store_word(record.blocks_capacity, sizes.blocks);
  store_word(record.segments_offset, segments_offset());
  store_word(record.segments_capacity, sizes.segments);
}

void DeviceWriter::describe(const segment::DeviceInfo& info, std::uint32_t slot, std::uint64_t since_ns) noexcept {
  std::array<std::uint64_t, 2> uuid{};
  std::memcpy(uuid.data(), info.uuid.data(), info.uuid.size());
  store_word(record_->slot, slot);
  store_word(record_->backend, static_cast<std::uint64_t>(info.backend));
  store_word(record_->ordinal, info.ordinal);
  store_word(record_->uuid[0], uuid[0]);
  store_word(record_->uuid[1], uuid[1]);
  store_word(record_->capacity_bytes, info.capacity_bytes);
  store_word(record_->since_monotonic_ns, since_ns);
  store_word(record_->simulated, info.simulated ? 1 : 0);
  store_text(record_->name, info.name);
}

Word* DeviceWriter::words_at(std::uint64_t file_offset) const noexcept {
  return std::launder(reinterpret_cast<Word*>(area_ + (file_offset - area_offset_)));
}

// Where the entry belongs, in the file; 0: it has no place.
std::uint64_t DeviceWriter::room_for(const Changes::Change& change) noexcept {
  const std::uint64_t capacity = change.is_segment ? sizes_.segments : sizes_.blocks;
  if (change.number >= capacity) {
    ++(change.is_segment ? segments_lost_ : blocks_lost_);
    return 0;
  }
  std::uint64_t& used = change.is_segment ? segments_used_ : blocks_used_;
  used = std::max<std::uint64_t>(used, std::uint64_t{change.number} + 1);
  return (change.is_segment ? segments_offset() : blocks_offset()) + change.number * kLineBytes;
}

void DeviceWriter::put(std::uint32_t number, const BlockWords& block) noexcept {
  const Changes::Change change{number, false, line_of(block)};
  if (const std::uint64_t at = room_for(change); at != 0) {
    store_line(words_at(at), change.line.data());
  }
}

void DeviceWriter::put(std::uint32_t number, const SegmentWords& segment) noexcept {
  const Changes::Change change{number, true, line_of(segment)};
  if (const std::uint64_t at = room_for(change); at != 0) {
    store_line(words_at(at), change.line.data());
  }
}

void DeviceWriter::put_counters(const DeviceBasis& basis) noexcept {
  segment::store_lines(record_->basis, basis, kAllBasisLines);
  store_word(record_->has_basis, 1);
}

Line DeviceWriter::counts_line() const noexcept {
  return {events_, blocks_used_, segments_used_, blocks_lost_, segments_lost_, 0, 0, 0};
}

void DeviceWriter::open() noexcept {
  store_line(record_->counts.data(), counts_line().data());
  record_->state.store(1, std::memory_order_release);
}

// Its lines first, then the sequence, then the places they belong to: in this order also for who sees only what a kill
// left.
void DeviceWriter::record(const EventWords& event, const Changes& changes) noexcept {
  Word* places[kJournalLines];
  const std::uint64_t* lines[kJournalLines];
  std::size_t count = 0;
  const auto note = [&](std::uint64_t target, Word* place, const Line& line) {
    store_word(record_->journal_targets[count], target);
    store_line(&record_->journal_lines[count * kLineWords], line.data());
    places[count] = place;
    lines[count] = line.data();
    ++count;
  };

  const bool is_event = event.action != Action::None;
  const Line event_line = line_of(event, events_);
  if (is_event) {
    std::atomic_ref{events_}.store(events_ + 1, std::memory_order_relaxed);
  }
  if (is_event && sizes_.ring != 0) {
    const std::uint64_t at = area_offset_ + ring_place_ * kLineBytes;
    note(at, words_at(at), event_line);
    ring_place_ = ring_place_ + 1 == sizes_.ring ? 0 : ring_place_ + 1;
  }
  for (std::size_t i = 0; i < changes.count_; ++i) {
    if (const std::uint64_t at = room_for(changes.changes_[i]); at != 0) {
      note(at, words_at(at), changes.changes_[i].line);
    }
  }
  const Line counts = counts_line();
  note(kCountsTarget, record_->counts.data(), counts);
  store_word(record_->journal_count, count);
  std::atomic_thread_fence(std::memory_order_release);

  const segment::WriteSection section{record_->sequence, sequence_};
  for (std::size_t i = 0; i < count; ++i) {
    store_line(places[i], lines[i]);
  }
}

std::uint64_t DeviceWriter::events_kept() noexcept {
  return std::min(std::atomic_ref{events_}.load(std::memory_order_relaxed), sizes_.ring);
}

void DeviceWriter::copy_events(const DeviceWriter& from) noexcept {
  const std::uint64_t kept = std::min({from.events_, from.sizes_.ring, sizes_.ring});
  for (std::uint64_t number = from.events_ - kept; number < from.events_; ++number) {
    std::memcpy(area_ + number % sizes_.ring * kLineBytes, from.area_ + number % from.sizes_.ring * kLineBytes,
                kLineBytes);
  }
  events_ = from.events_;
  blocks_lost_ += from.blocks_lost_;
  segments_lost_ += from.segments_lost_;
}

}  // namespace tidemark::history
