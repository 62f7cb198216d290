// The bytes of a table of named ranges: `<segment>.ranges` of a process whose NVTX ranges are measured. Little-endian
// words, no pointer, no lock.
//
//   0     head, 64 bytes, frozen for ever
//   4096  rows, 256 bytes each: what one name did on one device
//
// Rows are appended, and complete before the head's count says that they are there; after that one changes under its
// own sequence (shared/segment/sequence.hpp), one writer at a time. A kill leaves at most one row in the middle of a
// change.
//
// Versions: as the segment's (shared/segment/layout.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shared/segment/file_version.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/layout_hash.hpp"

namespace tidemark::ranges {

using segment::Word;
using segment::Words;

inline constexpr std::uint64_t kMagic = 0x0153474e52444954;  // "TIDRNGS\x01"
inline constexpr std::uint16_t kMajor = 1;
inline constexpr std::uint16_t kMinor = 0;
inline constexpr std::uint16_t kMinReaderMinor = 0;

// X(name, byte offset, 64-bit words), as the segment's lists.
#define TIDEMARK_RANGES_HEAD_FIELDS(X)                 \
  X(magic, 0, 1)                                       \
  X(version, 8, 1)                                     \
  X(total_bytes, 16, 1)                                \
  X(nonce, 24, 1) /* the segment's */                  \
  X(layout_hash, 32, 1)                                \
  X(state, 40, 1) /* 1: complete */                    \
  X(count, 48, 1) /* rows, in the order of creation */ \
  X(reserved, 56, 1)

// Sizes in bytes, each the highest of all times.
#define TIDEMARK_RANGES_ROW_FIELDS(X)                                                       \
  X(sequence, 0, 1)                                                                         \
  X(device, 8, 1)      /* its slot in the segment */                                        \
  X(times, 16, 1)      /* ranges of this name that ended, the unmeasured ones among them */ \
  X(unmeasured, 24, 1) /* no phase was free when they began */                              \
  X(allocated, 32, 1)  /* peak while one was open */                                        \
  X(reserved, 40, 1)   /* peak */                                                           \
  X(added, 48, 1)      /* peak allocated minus what was allocated when it began */          \
  X(name, 56, 21)      /* domain:message, NUL at its end */                                 \
  X(reserved_end, 224, 4)

#define X(name, offset, words) Words<words> name;
struct alignas(64) Head {
  TIDEMARK_RANGES_HEAD_FIELDS(X)
};
struct alignas(64) RowRecord {
  TIDEMARK_RANGES_ROW_FIELDS(X)
};
#undef X

#define X(name, offset, words)                                \
  static_assert(offsetof(TIDEMARK_RECORD, name) == (offset)); \
  static_assert(sizeof(TIDEMARK_RECORD::name) == 8 * (words));
#define TIDEMARK_RECORD Head
TIDEMARK_RANGES_HEAD_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD RowRecord
TIDEMARK_RANGES_ROW_FIELDS(X)
#undef TIDEMARK_RECORD
#undef X
static_assert(sizeof(Head) == 64 && sizeof(RowRecord) == 256);

// A name has a row for each device it met; the last ones are for what found no place, one a device.
inline constexpr std::size_t kRows = 2048;
inline constexpr std::size_t kRowsForOthers = segment::kDeviceSlots;
inline constexpr std::size_t kRowsOffset = 4096;
inline constexpr std::size_t kTableBytes = kRowsOffset + kRows * sizeof(RowRecord);
inline constexpr std::size_t kNameBytes = sizeof(RowRecord::name);  // with the NUL
static_assert(kTableBytes % 4096 == 0);

[[nodiscard]] consteval std::uint64_t hash_of_layout() {
  segment::LayoutHash hash;
#define X(name, offset, words) hash.add(#name, offset, words);
  TIDEMARK_RANGES_HEAD_FIELDS(X)
  TIDEMARK_RANGES_ROW_FIELDS(X)
#undef X
  return hash.with_basis();
}
inline constexpr std::uint64_t kLayoutHash = hash_of_layout();

inline constexpr segment::FileVersion kVersion{
    .major = kMajor, .minor = kMinor, .min_reader_minor = kMinReaderMinor, .layout_hash = kLayoutHash};
inline constexpr std::uint64_t kVersionWord = kVersion.word();

}  // namespace tidemark::ranges
