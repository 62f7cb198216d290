// The bytes of a history: `<segment>.hist` of a process that records, and copies of it (`.tmsnap`). Little-endian
// words, offsets instead of pointers, no lock.
//
//   0      head, 64 bytes, frozen for ever
//   64     INFO, 960: what is recorded and where the tables lie
//   1024   DEVICES, 16 x 2048
//   36864  stacks, frames, strings, text, modules: append-only tables of the process
//   then   one area a device: its ring of events, its blocks, its segments, 64 bytes an entry
//
// A device's area is made when the device is met, so the file grows. A block's place in its table is its number in the
// allocator's, a segment's too: an event changes a few entries and moves none.
//
// Whole after a kill. An event is first written into its device's journal: the lines it changes, and where they belong.
// Then the sequence (shared/segment/sequence.hpp) becomes odd, the lines are written, the sequence becomes even. Who
// finds it odd and its writer dead writes the journal's lines once more, and has the state after the event.
// Append-only tables: an entry is complete before the count says that it is there.
//
// Versions: as the segment's (shared/segment/layout.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/base/device_basis.hpp"
#include "shared/segment/file_version.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/layout_hash.hpp"

namespace tidemark::history {

using segment::Word;
using segment::Words;

inline constexpr std::uint64_t kMagic = 0x0154534948444954;  // "TIDHIST\x01"
inline constexpr std::uint16_t kMajor = 1;
inline constexpr std::uint16_t kMinor = 1;  // 1: label, command
inline constexpr std::uint16_t kMinReaderMinor = 0;

inline constexpr std::size_t kLineWords = 8;
inline constexpr std::size_t kLineBytes = kLineWords * sizeof(std::uint64_t);
using Line = std::array<std::uint64_t, kLineWords>;

// X(name, byte offset, 64-bit words), as the segment's lists. Offsets of tables are bytes from the file's start,
// capacities count entries (of frames and text: words).
#define TIDEMARK_HISTORY_HEAD_FIELDS(X) \
  X(magic, 0, 1)                        \
  X(version, 8, 1)                      \
  X(total_bytes, 16, 1)                 \
  X(nonce, 24, 1) /* the segment's */   \
  X(layout_hash, 32, 1)                 \
  X(state, 40, 1) /* 1: complete */     \
  X(reserved, 48, 2)

#define TIDEMARK_HISTORY_INFO_FIELDS(X)                                                  \
  X(kind, 0, 1)                                                                          \
  X(reason, 8, 1)                                                                        \
  X(pid, 16, 1)                                                                          \
  X(enabled, 24, 1)                                                                      \
  X(stacks, 32, 1)                                                                       \
  X(max_entries, 40, 1)                                                                  \
  /* The two clocks at one moment: events have the monotonic one. */                     \
  X(start_realtime_ns, 48, 1)                                                            \
  X(start_monotonic_ns, 56, 1)                                                           \
  /* Of a snapshot, else 0. */                                                           \
  X(taken_monotonic_ns, 64, 1)                                                           \
  /* The age of a block that is older than the recording, in beats of about a second. */ \
  X(beat, 72, 1)                                                                         \
  X(beat_monotonic_ns, 80, 1)                                                            \
  X(stacks_offset, 88, 1)                                                                \
  X(stacks_capacity, 96, 1)                                                              \
  X(stacks_count, 104, 1)                                                                \
  X(frames_offset, 112, 1)                                                               \
  X(frames_capacity, 120, 1)                                                             \
  X(strings_offset, 128, 1)                                                              \
  X(strings_capacity, 136, 1)                                                            \
  X(strings_count, 144, 1)                                                               \
  X(text_offset, 152, 1)                                                                 \
  X(text_capacity, 160, 1)                                                               \
  X(modules_offset, 168, 1)                                                              \
  X(modules_capacity, 176, 1)                                                            \
  X(modules_count, 184, 1)                                                               \
  /* What found no place, or could not be had. */                                        \
  X(stacks_lost, 192, 1)                                                                 \
  X(strings_lost, 200, 1)                                                                \
  X(modules_lost, 208, 1)                                                                \
  X(python_omitted, 216, 1) /* stacks whose Python frames could not be read */           \
  /* As the segment has them. */                                                         \
  X(label, 224, 9)                                                                       \
  X(command, 296, 24)                                                                    \
  X(reserved, 488, 59)

// `counts` is a line of the journal's like any entry: see Counts.
#define TIDEMARK_HISTORY_DEVICE_FIELDS(X)                            \
  X(sequence, 0, 1)                                                  \
  X(state, 8, 1) /* 1: in use */                                     \
  X(slot, 16, 1) /* the device's in the segment */                   \
  X(backend, 24, 1)                                                  \
  X(ordinal, 32, 1)                                                  \
  X(uuid, 40, 2)                                                     \
  X(capacity_bytes, 56, 1)                                           \
  X(since_monotonic_ns, 64, 1) /* when its recording began */        \
  X(ring_offset, 72, 1)                                              \
  X(ring_capacity, 80, 1)                                            \
  X(blocks_offset, 88, 1)                                            \
  X(blocks_capacity, 96, 1)                                          \
  X(segments_offset, 104, 1)                                         \
  X(segments_capacity, 112, 1)                                       \
  X(has_basis, 120, 1)                                               \
  X(name, 128, 12)                                                   \
  X(simulated, 224, 1)                                               \
  X(reserved, 232, 3)                                                \
  X(counts, 256, 8)                                                  \
  X(journal_count, 320, 1)                                           \
  X(journal_targets, 328, 7) /* bytes from the file's start */       \
  X(journal_lines, 384, 56)                                          \
  X(reserved_line, 832, 8)                                           \
  X(basis, 896, 120) /* of a snapshot: the counters at its moment */ \
  X(reserved_end, 1856, 24)

#define X(name, offset, words) Words<words> name;
struct alignas(64) Head {
  TIDEMARK_HISTORY_HEAD_FIELDS(X)
};
struct alignas(64) InfoRecord {
  TIDEMARK_HISTORY_INFO_FIELDS(X)
};
struct alignas(64) DeviceRecord {
  TIDEMARK_HISTORY_DEVICE_FIELDS(X)
};
#undef X

#define X(name, offset, words)                                \
  static_assert(offsetof(TIDEMARK_RECORD, name) == (offset)); \
  static_assert(sizeof(TIDEMARK_RECORD::name) == 8 * (words));
#define TIDEMARK_RECORD Head
TIDEMARK_HISTORY_HEAD_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD InfoRecord
TIDEMARK_HISTORY_INFO_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD DeviceRecord
TIDEMARK_HISTORY_DEVICE_FIELDS(X)
#undef TIDEMARK_RECORD
#undef X

inline constexpr std::size_t kDeviceRecords = segment::kDeviceSlots;
inline constexpr std::size_t kJournalLines = 7;
inline constexpr std::uint64_t kCountsTarget = UINT64_MAX;  // of a journal's line: the device's own `counts`

struct Layout {
  Head head;
  InfoRecord info;
  std::array<DeviceRecord, kDeviceRecords> devices;
};
inline constexpr std::size_t kTablesOffset = 36864;
static_assert(sizeof(Head) == 64 && sizeof(InfoRecord) == 960 && sizeof(DeviceRecord) == 2048);
static_assert(offsetof(Layout, info) == 64 && offsetof(Layout, devices) == 1024);
static_assert(sizeof(Layout) <= kTablesOffset && kTablesOffset % 4096 == 0);
static_assert(sizeof(DeviceRecord::basis) == sizeof(DeviceBasis));

// Entries. Word by word, since they are written and read as lines.
namespace event_word {
inline constexpr std::size_t kNumber = 0;  // + 1; the event's place in the ring follows from it
inline constexpr std::size_t kWhat = 1;    // Action in bits 0-7, large pool in 8; StackId in 32-63
inline constexpr std::size_t kAddress = 2;
inline constexpr std::size_t kSize = 3;       // as handed out; of a segment its own
inline constexpr std::size_t kRequested = 4;  // as asked for
inline constexpr std::size_t kTime = 5;       // CLOCK_MONOTONIC
inline constexpr std::size_t kContext = 6;
inline constexpr std::size_t kDeviceFree = 7;  // of an out-of-memory
}  // namespace event_word

namespace block_word {
inline constexpr std::size_t kAddress = 0;
inline constexpr std::size_t kSize = 1;
inline constexpr std::size_t kRequested = 2;
inline constexpr std::size_t kBirth = 3;    // CLOCK_MONOTONIC; 0: before the recording, kPlace's beat then says when
inline constexpr std::size_t kWhat = 4;     // BlockState in bits 0-7; StackId in 32-63
inline constexpr std::size_t kSegment = 5;  // the segment's serial: an entry of another one's time is none
inline constexpr std::size_t kPlace = 6;    // segment's number in bits 0-31, birth beat in 32-63
}  // namespace block_word

namespace segment_word {
inline constexpr std::size_t kAddress = 0;
inline constexpr std::size_t kSize = 1;
inline constexpr std::size_t kSerial = 2;  // 0: none
inline constexpr std::size_t kContext = 3;
inline constexpr std::size_t kWhat = 4;   // large pool in bit 8, passed through in 9, pinned in 10; StackId in 32-63
inline constexpr std::size_t kBirth = 5;  // as a block's
}  // namespace segment_word

inline constexpr std::uint64_t kLargePoolBit = 1U << 8;
inline constexpr std::uint64_t kPassedThroughBit = 1U << 9;
inline constexpr std::uint64_t kPinnedBit = 1U << 10;

// The words of DeviceRecord::counts.
namespace count_word {
inline constexpr std::size_t kEvents = 0;      // ever; the ring has the last of them
inline constexpr std::size_t kBlocksUsed = 1;  // highest number + 1
inline constexpr std::size_t kSegmentsUsed = 2;
inline constexpr std::size_t kBlocksLost = 3;  // changes of blocks whose number is beyond the table
inline constexpr std::size_t kSegmentsLost = 4;
}  // namespace count_word

// A stack: addresses innermost first, then Python's frames, two words each: name and file (StringId, 32 bits each),
// line.
namespace stack_word {
inline constexpr std::size_t kFirst = 0;      // word in the table of frames
inline constexpr std::size_t kCounts = 1;     // addresses in bits 0-15, their StackEnd in 16-31, Python's so in 32-63
inline constexpr std::size_t kFirstSeen = 2;  // CLOCK_MONOTONIC
inline constexpr std::size_t kHash = 3;
inline constexpr std::size_t kWords = 4;
}  // namespace stack_word

// A string: byte in the text in bits 0-31, length in 32-63. String 0 is the empty one, and has no entry.
// A module: a part of a file mapped to be run, from `kStart` to `kEnd`.
namespace module_word {
inline constexpr std::size_t kBias = 0;  // address in memory minus address in the file's symbols
inline constexpr std::size_t kStart = 1;
inline constexpr std::size_t kEnd = 2;
inline constexpr std::size_t kFileOffset = 3;  // of kStart
inline constexpr std::size_t kPath = 4;        // string
inline constexpr std::size_t kBuildIdBytes = 5;
inline constexpr std::size_t kBuildId = 6;  // 4 words
inline constexpr std::size_t kSince = 10;   // CLOCK_MONOTONIC, when it was first seen
inline constexpr std::size_t kGone = 11;    // when it was seen to be gone; 0: it is there
inline constexpr std::size_t kWords = 16;
}  // namespace module_word
inline constexpr std::size_t kMostBuildIdBytes = 32;

[[nodiscard]] consteval std::uint64_t hash_of_layout() {
  segment::LayoutHash hash;
#define X(name, offset, words) hash.add(#name, offset, words);
  TIDEMARK_HISTORY_HEAD_FIELDS(X)
  TIDEMARK_HISTORY_INFO_FIELDS(X)
  TIDEMARK_HISTORY_DEVICE_FIELDS(X)
#undef X
  return hash.with_basis();
}
inline constexpr std::uint64_t kLayoutHash = hash_of_layout();

inline constexpr segment::FileVersion kVersion{
    .major = kMajor, .minor = kMinor, .min_reader_minor = kMinReaderMinor, .layout_hash = kLayoutHash};
inline constexpr std::uint64_t kVersionWord = kVersion.word();

}  // namespace tidemark::history
