#include "shared/history/read_device.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "shared/history/tile.hpp"
#include "shared/segment/own_identity.hpp"

namespace tidemark::history {
namespace {

using Image = RecordImage<DeviceRecord>;

constexpr std::uint64_t record_offset(std::size_t index) {
  return offsetof(Layout, devices) + index * sizeof(DeviceRecord);
}

std::uint32_t low_half(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high_half(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

// A line that belongs elsewhere in the file, and may not have got there.
struct PendingLine {
  std::uint64_t target;
  Line line;
};

// One attempt at a device.
class Attempt {
 public:
  Attempt(const WordFile& file, std::size_t index, const TimeBase& time) : file_(file), index_(index), time_(time) {}

  // False: there is no device.
  bool run() {
    std::uint64_t before = 0;
    is_whole_ = read_sequence(before);
    segment::fence_after_words();
    is_whole_ = is_whole_ && file_.read(record_offset(index_), image_.words_up_to(sizeof(DeviceRecord)));
    if (!is_whole_ || image_.word(offsetof(DeviceRecord, state)) != 1) {
      return false;
    }
    take_journal();
    take_counts();
    read_tables();
    segment::fence_after_words();
    std::uint64_t after = 0;
    // Odd throughout is as good as even: then the journal, which is whole, says what the tables don't yet.
    is_consistent_ =
        is_whole_ && read_sequence(after) && before == after && image_.word(offsetof(DeviceRecord, sequence)) == before;
    return true;
  }

  [[nodiscard]] bool is_consistent() const { return is_consistent_; }
  // The file ends before its tables do: another attempt would find the same.
  [[nodiscard]] bool is_whole() const { return is_whole_; }

  [[nodiscard]] Device result() {
    Device device;
    describe(device);
    device.events_ever = count(count_word::kEvents);
    device.changes_lost = count(count_word::kBlocksLost) + count(count_word::kSegmentsLost);
    device.is_approximate = !is_consistent_;
    if (!is_consistent_) {
      drop_overtaken();
    }
    device.events = std::move(events_);
    const bool tiles = tile_segments(std::move(segments_), blocks_, device.segments);
    device.is_approximate |= !tiles && device.changes_lost == 0;
    return device;
  }

 private:
  bool read_sequence(std::uint64_t& sequence) {
    return file_.read(record_offset(index_) + offsetof(DeviceRecord, sequence), {&sequence, 1});
  }
  [[nodiscard]] std::uint64_t word(std::size_t offset) const { return image_.word(offset); }
  [[nodiscard]] std::uint64_t count(std::size_t which) const { return counts_[which]; }

  void take_journal() {
    const bool is_open = (word(offsetof(DeviceRecord, sequence)) & 1) != 0;
    const std::uint64_t lines = std::min<std::uint64_t>(word(offsetof(DeviceRecord, journal_count)), kJournalLines);
    for (std::uint64_t i = 0; is_open && i < lines; ++i) {
      PendingLine& pending = pending_.emplace_back();
      pending.target = image_.words(offsetof(DeviceRecord, journal_targets), kJournalLines)[i];
      std::ranges::copy(image_.words(offsetof(DeviceRecord, journal_lines) + i * kLineBytes, kLineWords),
                        pending.line.begin());
    }
  }

  void take_counts() {
    std::ranges::copy(image_.words(offsetof(DeviceRecord, counts), kLineWords), counts_.begin());
    for (const PendingLine& pending : pending_) {
      if (pending.target == kCountsTarget) {
        counts_ = pending.line;
      }
    }
  }

  // The journal's line for a place in the file, where it has one.
  void amend(std::uint64_t offset, std::span<std::uint64_t, kLineWords> line) const {
    for (const PendingLine& pending : pending_) {
      if (pending.target == offset) {
        std::ranges::copy(pending.line, line.begin());
      }
    }
  }

  template <class Visit>
  void visit(std::size_t offset_of, std::size_t capacity_of, std::uint64_t used, Visit&& visit_line) {
    const Table table = Table::checked(word(offset_of), word(capacity_of), kLineWords, kMostEntries, file_.bytes());
    is_whole_ = is_whole_ && for_each_entry<kLineWords>(
                                 file_, table, used, [&](std::uint64_t at, std::span<std::uint64_t, kLineWords> line) {
                                   amend(table.offset + at * kLineBytes, line);
                                   visit_line(at, line);
                                 });
  }

  void read_tables() {
    visit(offsetof(DeviceRecord, segments_offset), offsetof(DeviceRecord, segments_capacity),
          count(count_word::kSegmentsUsed), [this](std::uint64_t at, auto line) { take_segment(at, line); });
    visit(offsetof(DeviceRecord, blocks_offset), offsetof(DeviceRecord, blocks_capacity),
          count(count_word::kBlocksUsed), [this](std::uint64_t, auto line) { take_block(line); });
    visit(offsetof(DeviceRecord, ring_offset), offsetof(DeviceRecord, ring_capacity), count(count_word::kEvents),
          [this](std::uint64_t at, auto line) { take_event(at, line); });
    std::ranges::sort(events_, {}, &Event::number);
  }

  void take_segment(std::uint64_t at, std::span<const std::uint64_t, kLineWords> line) {
    if (line[segment_word::kSerial] == 0) {
      return;
    }
    const std::uint64_t what = line[segment_word::kWhat];
    FoundSegment& found = segments_.emplace_back();
    found.number = at;
    found.serial = line[segment_word::kSerial];
    found.segment = {.address = line[segment_word::kAddress],
                     .size = line[segment_word::kSize],
                     .context = line[segment_word::kContext],
                     .is_large = (what & kLargePoolBit) != 0,
                     .passed_through = (what & kPassedThroughBit) != 0,
                     .is_pinned = (what & kPinnedBit) != 0,
                     .stack = high_half(what),
                     .birth_ns = birth_of(line[segment_word::kBirth])};
  }

  void take_block(std::span<const std::uint64_t, kLineWords> line) {
    const std::uint64_t what = line[block_word::kWhat];
    const auto state = static_cast<BlockState>(what & 0xFF);
    if (state != BlockState::Inactive && state != BlockState::Allocated && state != BlockState::Pending) {
      return;
    }
    const bool is_used = state != BlockState::Inactive;
    FoundBlock& found = blocks_.emplace_back();
    found.segment_number = low_half(line[block_word::kPlace]);
    found.segment_serial = line[block_word::kSegment];
    found.block = {.address = line[block_word::kAddress],
                   .size = line[block_word::kSize],
                   .requested = is_used ? line[block_word::kRequested] : 0,
                   .state = state,
                   .stack = high_half(what)};
    if (is_used) {
      found.block.is_older = line[block_word::kBirth] == 0;
      found.block.birth_ns = found.block.is_older ? birth_of_beat(high_half(line[block_word::kPlace]))
                                                  : birth_of(line[block_word::kBirth]);
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> birth_of(std::uint64_t monotonic) const {
    return monotonic == 0 ? std::nullopt : std::optional{time_.realtime_of(monotonic)};
  }

  [[nodiscard]] std::optional<std::uint64_t> birth_of_beat(std::uint32_t beat) const {
    constexpr std::uint64_t kBeatNs = 1'000'000'000;
    if (time_.beat == 0 || beat > time_.beat) {
      return std::nullopt;
    }
    return time_.realtime_of(time_.beat_monotonic_ns) - (time_.beat - beat) * kBeatNs;
  }

  void take_event(std::uint64_t at, std::span<const std::uint64_t, kLineWords> line) {
    const std::uint64_t what = line[event_word::kWhat];
    const std::uint64_t number = line[event_word::kNumber] - 1;
    const std::uint64_t capacity = word(offsetof(DeviceRecord, ring_capacity));
    const std::uint64_t ever = count(count_word::kEvents);
    const bool is_kept = number < ever && ever - number <= capacity && number % capacity == at;
    const auto action = static_cast<std::uint8_t>(what & 0xFF);
    if (!is_kept || action == 0 || action >= kActions) {
      return;
    }
    events_.push_back({.number = number,
                       .action = static_cast<Action>(action),
                       .is_large = (what & kLargePoolBit) != 0,
                       .stack = high_half(what),
                       .address = line[event_word::kAddress],
                       .size = line[event_word::kSize],
                       .requested = line[event_word::kRequested],
                       .time_ns = time_.realtime_of(line[event_word::kTime]),
                       .context = line[event_word::kContext],
                       .device_free = line[event_word::kDeviceFree]});
  }

  // While we read, the writer may have come around: what it could have been at by now may be half of two events.
  void drop_overtaken() {
    std::uint64_t ever = 0;
    const std::uint64_t capacity = word(offsetof(DeviceRecord, ring_capacity));
    const std::uint64_t at = record_offset(index_) + offsetof(DeviceRecord, counts) + count_word::kEvents * 8;
    const std::uint64_t first = file_.read(at, {&ever, 1}) && ever >= capacity ? ever - capacity + 1 : 0;
    std::erase_if(events_, [&](const Event& event) { return event.number < first; });
  }

  void describe(Device& device) const;

  const WordFile& file_;
  const std::size_t index_;
  const TimeBase& time_;
  Image image_;
  Line counts_{};
  std::vector<PendingLine> pending_;
  std::vector<FoundSegment> segments_;
  std::vector<FoundBlock> blocks_;
  std::vector<Event> events_;
  bool is_whole_ = false;
  bool is_consistent_ = false;
};

void Attempt::describe(Device& device) const {
  const std::uint64_t backend = word(offsetof(DeviceRecord, backend));
  const bool is_known = backend == static_cast<std::uint64_t>(segment::Backend::Cuda) ||
                        backend == static_cast<std::uint64_t>(segment::Backend::Mtia);
  device.slot = low_half(word(offsetof(DeviceRecord, slot)));
  device.info.backend = is_known ? static_cast<segment::Backend>(backend) : segment::Backend::Unknown;
  device.info.ordinal = low_half(word(offsetof(DeviceRecord, ordinal)));
  const auto uuid = std::as_bytes(image_.words(offsetof(DeviceRecord, uuid), 2));
  std::ranges::transform(uuid, device.info.uuid.begin(), [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  device.info.name.assign(
      image_.text(offsetof(DeviceRecord, name), sizeof(DeviceRecord::name) / sizeof(std::uint64_t)));
  device.info.capacity_bytes = word(offsetof(DeviceRecord, capacity_bytes));
  device.info.simulated = word(offsetof(DeviceRecord, simulated)) != 0;
  device.since_ns = time_.realtime_of(word(offsetof(DeviceRecord, since_monotonic_ns)));
  if (word(offsetof(DeviceRecord, has_basis)) == 1) {
    device.basis.emplace();
    std::ranges::copy(image_.words(offsetof(DeviceRecord, basis), kBasisWords), device.basis->words.begin());
  }
}

}  // namespace

std::optional<Device> read_device(const WordFile& file, std::size_t index, const TimeBase& time,
                                  const segment::ReadBudget& budget) {
  const std::uint64_t start = segment::clock_ns(CLOCK_MONOTONIC);
  for (;;) {
    Attempt attempt{file, index, time};
    if (!attempt.run()) {
      return std::nullopt;
    }
    const bool is_over = segment::clock_ns(CLOCK_MONOTONIC) - start >= budget.busy_ns;
    if (attempt.is_consistent() || !attempt.is_whole() || is_over) {
      return attempt.result();
    }
  }
}

DeviceLosses read_losses(const WordFile& file, std::size_t index) noexcept {
  Image image;
  if (!file.read(record_offset(index), image.words_up_to(sizeof(DeviceRecord))) ||
      image.word(offsetof(DeviceRecord, state)) != 1) {
    return {};
  }
  const auto counts = image.words(offsetof(DeviceRecord, counts), kLineWords);
  const std::uint64_t capacity = image.word(offsetof(DeviceRecord, ring_capacity));
  const std::uint64_t ever = counts[count_word::kEvents];
  return {.events = capacity != 0 && ever > capacity ? ever - capacity : 0,
          .changes = counts[count_word::kBlocksLost] + counts[count_word::kSegmentsLost]};
}

}  // namespace tidemark::history
