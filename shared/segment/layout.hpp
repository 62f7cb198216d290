// The bytes of a segment. Little-endian, fixed width, offsets instead of pointers, no lock; 48 KiB.
//
//   0     head, 64 bytes, frozen for ever          2048   DEVICE_INFO  16 x 256
//   64    IDENTITY, 960, constant                  6144   DEVICES      16 x 1024 (sequence, then the basis)
//   1024  section table, 16 x 32                   22528  ACKS         31 x 256
//   1536  GLOBAL, 512                              30464  KINDS        16 x 256, then HOST_KINDS, 256
//                                                 34816  COVERAGE     7232, SETTINGS, 3072
//
// Versions. A reader refuses another major. A minor only appends: fields in reserved places or at the end of a record
// (strides may grow), new sections (a reader skips types that it doesn't know). A place is never re-used; 0 = unknown.
// min_reader_minor is raised only if an older reader would show wrong numbers. layout_hash covers names and offsets of
// all fields, so that an edit without a new version is caught where versions are equal. Each record that changes has
// its own sequence (sequence.hpp) as its first word.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "shared/base/device_basis.hpp"
#include "shared/base/kind_counts.hpp"
#include "shared/segment/coverage.hpp"
#include "shared/segment/layout_hash.hpp"
#include "shared/segment/process_words.hpp"

namespace tidemark::segment {

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8 &&
                  alignof(std::atomic<std::uint64_t>) == 8,
              "words must be address-free");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);
static_assert(std::atomic<std::uint16_t>::is_always_lock_free && sizeof(std::atomic<std::uint16_t>) == 2);

using Word = std::atomic<std::uint64_t>;

inline constexpr std::uint64_t kMagic = 0x014B524D45444954;  // "TIDEMRK\x01"
inline constexpr std::uint16_t kMajor = 1;
inline constexpr std::uint16_t kMinor = 3;  // 1: kinds; 2: coverage, settings; 3: limit rejections, foreign frees
inline constexpr std::uint16_t kMinReaderMinor = 0;

enum class SegmentState : std::uint32_t { Building = 0, Ready = 1, Exited = 2 };

// Bits of Head::features.
inline constexpr std::uint32_t kFeatureControl = 1u << 0;  // a control file was made

enum class SectionType : std::uint32_t {
  None = 0,
  Identity = 1,
  Global = 2,
  DeviceInfo = 3,
  Devices = 4,
  Acks = 5,
  Kinds = 6,      // one record a device slot
  HostKinds = 7,  // one
  PeakSlots = 8,  // promised, not written yet
  Coverage = 9,   // one
  Settings = 10,  // one
};

struct Head {
  Word magic;
  std::atomic<std::uint16_t> major;
  std::atomic<std::uint16_t> minor;
  std::atomic<std::uint16_t> min_reader_minor;
  std::atomic<std::uint8_t> pointer_bits;
  std::atomic<std::uint8_t> endian_tag;  // 1 = little
  std::atomic<std::uint32_t> header_bytes;
  std::atomic<std::uint32_t> total_bytes;
  std::atomic<std::uint32_t> section_count;
  std::atomic<std::uint32_t> section_table_offset;
  Word nonce;
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> features;
  Word layout_hash;
  Word reserved;
};

struct SectionEntry {
  std::atomic<std::uint32_t> type;
  std::atomic<std::uint16_t> version;
  std::atomic<std::uint16_t> flags;
  std::atomic<std::uint32_t> offset;
  std::atomic<std::uint32_t> stride;
  std::atomic<std::uint32_t> count;
  std::atomic<std::uint32_t> bytes;  // stride * count
  Word reserved;
};

// X(name, byte offset, 64-bit words): the list yields the struct, the assertions and the layout hash. Texts are whole
// words and end in a NUL.
#define TIDEMARK_IDENTITY_FIELDS(X)                                               \
  X(pid, 0, 1)         /* in its own pid namespace */                             \
  X(start_ticks, 8, 1) /* /proc/PID/stat, field 22 */                             \
  X(ticks_per_second, 16, 1)                                                      \
  X(parent_pid, 24, 1)                                                            \
  X(pid_namespace, 32, 1) /* inode of /proc/self/ns/pid */                        \
  X(user_namespace, 40, 1)                                                        \
  X(uid, 48, 1)                                                                   \
  X(gid, 56, 1)                                                                   \
  X(create_realtime_ns, 64, 1)                                                    \
  X(create_monotonic_ns, 72, 1)                                                   \
  X(create_boottime_ns, 80, 1)                                                    \
  X(boot_id, 88, 2)                                                               \
  X(rank_global, 104, 1) /* + 1; 0 = unknown */                                   \
  X(rank_local, 112, 1)                                                           \
  X(rank_world, 120, 1)                                                           \
  X(comm, 128, 2)                                                                 \
  X(executable, 144, 8) /* basename */                                            \
  X(command, 208, 24)   /* executable's name, for interpreters with the script */ \
  X(label, 400, 9)                                                                \
  X(shim_version, 472, 4)                                                         \
  X(reserved, 504, 57)

#define TIDEMARK_GLOBAL_FIELDS(X)                                         \
  X(sequence, 0, 1)                                                       \
  X(heartbeat_count, 8, 1)                                                \
  X(heartbeat_realtime_ns, 16, 1)                                         \
  X(heartbeat_boottime_ns, 24, 1)                                         \
  X(mode, 32, 1)                                                          \
  X(layer, 40, 1)                                                         \
  X(flags, 48, 1)                                                         \
  X(control_policy, 56, 1)                                                \
  X(hook_calls, 64, 1)                                                    \
  X(forwarded_calls, 72, 1)                                               \
  X(lookups, 80, 1)                                                       \
  X(resolver_lookups, 88, 1)                                              \
  X(swapped_lookups, 96, 1)                                               \
  X(errors, 104, 1) /* of ours, that the program never noticed */         \
  X(last_error_code, 112, 1)                                              \
  X(last_error_native, 120, 1)                                            \
  X(requests_done, 128, 1)                                                \
  X(requests_refused, 136, 1)                                             \
  X(requests_ignored, 144, 1) /* torn, garbled or out of turn */          \
  X(exit_realtime_ns, 152, 1)                                             \
  X(inner_pool, 160, 1)                                                   \
  X(mode_realtime_ns, 168, 1) /* when the mode last changed */            \
  X(foreign_frees, 176, 1)                                                \
  X(reserved, 184, 1)                                                     \
  X(ack_bell, 192, 1) /* outside the sequence; its low half is a futex */ \
  X(reserved_bell_line, 200, 7)                                           \
  X(mode_reason, 256, 16)                                                 \
  X(reserved_end, 384, 16)

#define TIDEMARK_DEVICE_INFO_FIELDS(X) \
  X(sequence, 0, 1)                    \
  X(valid, 8, 1)                       \
  X(backend, 16, 1)                    \
  X(ordinal, 24, 1)                    \
  X(uuid, 32, 2)                       \
  X(capacity_bytes, 48, 1)             \
  X(simulated, 56, 1)                  \
  X(pci_bus_id, 64, 2)                 \
  X(name, 80, 12)                      \
  X(reserved, 176, 10)

// The head keeps a line to itself; the basis has the lines of shared/base/device_basis.hpp.
#define TIDEMARK_DEVICE_FIELDS(X)                                           \
  X(sequence, 0, 1)                                                         \
  X(generation, 8, 1) /* raised when the slot is given to another device */ \
  X(state, 16, 1)     /* DeviceState */                                     \
  X(reserved, 24, 5)                                                        \
  X(basis, 64, 120)

#define TIDEMARK_ACK_FIELDS(X) \
  X(sequence, 0, 1)            \
  X(ticket, 8, 1)              \
  X(status, 16, 1)             \
  X(operation, 24, 1)          \
  X(time_realtime_ns, 32, 1)   \
  X(reserved, 40, 1)           \
  X(results, 48, 8)            \
  X(detail, 112, 16)           \
  X(reserved_end, 240, 2)

// KindCounts, in the order of its enumeration.
#define TIDEMARK_KINDS_FIELDS(X)                         \
  X(sequence, 0, 1)                                      \
  X(counted, 8, 1) /* 0: nobody counts them, not none */ \
  X(reserved, 16, 6)                                     \
  X(counts, 64, 24)

#define TIDEMARK_HOST_KINDS_FIELDS(X) \
  X(sequence, 0, 1)                   \
  X(counted, 8, 1)                    \
  X(reserved, 16, 6)                  \
  X(counts, 64, 16)                   \
  X(reserved_end, 192, 8)

// Symbols, each kCoverageWords: its name, SymbolUse bits, calls that nothing accounts for. Those without a name are the
// end.
#define TIDEMARK_COVERAGE_FIELDS(X)                           \
  X(sequence, 0, 1)                                           \
  X(written, 8, 1) /* 0: nobody says it, not none were met */ \
  X(reserved, 16, 6)                                          \
  X(symbols, 64, 896)

// name, NUL, value, NUL, ...; never changes.
#define TIDEMARK_SETTINGS_FIELDS(X) X(text, 0, 384)

template <std::size_t Count>
using Words = std::conditional_t<Count == 1, Word, std::array<Word, Count>>;

#define X(name, offset, words) Words<words> name;
struct IdentityRecord {
  TIDEMARK_IDENTITY_FIELDS(X)
};
struct alignas(64) GlobalRecord {
  TIDEMARK_GLOBAL_FIELDS(X)
};
struct alignas(64) DeviceInfoRecord {
  TIDEMARK_DEVICE_INFO_FIELDS(X)
};
struct alignas(64) DeviceRecord {
  TIDEMARK_DEVICE_FIELDS(X)
};
struct alignas(64) AckRecord {
  TIDEMARK_ACK_FIELDS(X)
};
struct alignas(64) KindsRecord {
  TIDEMARK_KINDS_FIELDS(X)
};
struct alignas(64) HostKindsRecord {
  TIDEMARK_HOST_KINDS_FIELDS(X)
};
struct alignas(64) CoverageRecord {
  TIDEMARK_COVERAGE_FIELDS(X)
};
struct alignas(64) SettingsRecord {
  TIDEMARK_SETTINGS_FIELDS(X)
};
#undef X

inline constexpr std::size_t kCoverageNameWords = kCoverageNameBytes / sizeof(std::uint64_t);
inline constexpr std::size_t kCoverageWords = kCoverageNameWords + 2;
static_assert(sizeof(CoverageRecord::symbols) == kMostCoverageEntries * kCoverageWords * sizeof(std::uint64_t));

// Slots are taken from the first on and never given back: behind a free one there is none.
enum class DeviceState : std::uint64_t { Free = 0, Active = 1 };

inline constexpr std::size_t kSectionTableEntries = 16;

struct SegmentLayout {
  Head head;
  IdentityRecord identity;
  std::array<SectionEntry, kSectionTableEntries> sections;
  GlobalRecord global;
  std::array<DeviceInfoRecord, kDeviceSlots> device_info;
  std::array<DeviceRecord, kDeviceSlots> devices;
  std::array<AckRecord, kAckSlots> acks;
  std::array<KindsRecord, kDeviceSlots> kinds;
  HostKindsRecord host_kinds;
  CoverageRecord coverage;
  SettingsRecord settings;
};

inline constexpr std::size_t kSegmentBytes = 49152;
static_assert(sizeof(SegmentLayout) <= kSegmentBytes && kSegmentBytes <= 65536 && kSegmentBytes % 4096 == 0);
static_assert(std::is_standard_layout_v<SegmentLayout>);

#define X(name, offset, words)                                \
  static_assert(offsetof(TIDEMARK_RECORD, name) == (offset)); \
  static_assert(sizeof(TIDEMARK_RECORD::name) == 8 * (words));
#define TIDEMARK_RECORD IdentityRecord
TIDEMARK_IDENTITY_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD GlobalRecord
TIDEMARK_GLOBAL_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD DeviceInfoRecord
TIDEMARK_DEVICE_INFO_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD DeviceRecord
TIDEMARK_DEVICE_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD AckRecord
TIDEMARK_ACK_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD KindsRecord
TIDEMARK_KINDS_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD HostKindsRecord
TIDEMARK_HOST_KINDS_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD CoverageRecord
TIDEMARK_COVERAGE_FIELDS(X)
#undef TIDEMARK_RECORD
#define TIDEMARK_RECORD SettingsRecord
TIDEMARK_SETTINGS_FIELDS(X)
#undef TIDEMARK_RECORD
#undef X

static_assert(offsetof(Head, magic) == 0 && offsetof(Head, major) == 8 && offsetof(Head, minor) == 10);
static_assert(offsetof(Head, min_reader_minor) == 12 && offsetof(Head, pointer_bits) == 14);
static_assert(offsetof(Head, endian_tag) == 15 && offsetof(Head, header_bytes) == 16);
static_assert(offsetof(Head, total_bytes) == 20 && offsetof(Head, section_count) == 24);
static_assert(offsetof(Head, section_table_offset) == 28 && offsetof(Head, nonce) == 32);
static_assert(offsetof(Head, state) == 40 && offsetof(Head, features) == 44 && offsetof(Head, layout_hash) == 48);
static_assert(offsetof(Head, reserved) == 56 && sizeof(Head) == 64);
static_assert(offsetof(SectionEntry, type) == 0 && offsetof(SectionEntry, version) == 4);
static_assert(offsetof(SectionEntry, flags) == 6 && offsetof(SectionEntry, offset) == 8);
static_assert(offsetof(SectionEntry, stride) == 12 && offsetof(SectionEntry, count) == 16);
static_assert(offsetof(SectionEntry, bytes) == 20 && offsetof(SectionEntry, reserved) == 24);
static_assert(sizeof(SectionEntry) == 32);
static_assert(sizeof(IdentityRecord) == 960 && sizeof(GlobalRecord) == 512 && sizeof(DeviceInfoRecord) == 256);
static_assert(sizeof(DeviceRecord) == 64 + sizeof(DeviceBasis) && sizeof(AckRecord) == 256);
static_assert(offsetof(SegmentLayout, identity) == 64 && offsetof(SegmentLayout, sections) == 1024);
static_assert(offsetof(SegmentLayout, global) == 1536 && offsetof(SegmentLayout, device_info) == 2048);
static_assert(offsetof(SegmentLayout, devices) == 6144 && offsetof(SegmentLayout, acks) == 22528);
static_assert(sizeof(KindsRecord) == 256 && sizeof(KindsRecord::counts) == sizeof(DeviceKindCounts));
static_assert(sizeof(HostKindsRecord) == 256 && sizeof(HostKindsRecord::counts) == sizeof(HostKindCounts));
static_assert(offsetof(SegmentLayout, kinds) == 30464 && offsetof(SegmentLayout, host_kinds) == 34560);
static_assert(sizeof(CoverageRecord) == 7232 && sizeof(CoverageRecord) <= 8192 && sizeof(SettingsRecord) == 3072);
static_assert(offsetof(SegmentLayout, coverage) == 34816 && offsetof(SegmentLayout, settings) == 42048);

[[nodiscard]] consteval std::uint64_t hash_of_layout() {
  LayoutHash hash;
#define X(name, offset, words) hash.add(#name, offset, words);
  TIDEMARK_IDENTITY_FIELDS(X)
  TIDEMARK_GLOBAL_FIELDS(X)
  TIDEMARK_DEVICE_INFO_FIELDS(X)
  TIDEMARK_DEVICE_FIELDS(X)
  TIDEMARK_ACK_FIELDS(X)
  TIDEMARK_KINDS_FIELDS(X)
  TIDEMARK_HOST_KINDS_FIELDS(X)
  TIDEMARK_COVERAGE_FIELDS(X)
  TIDEMARK_SETTINGS_FIELDS(X)
#undef X
  return hash.with_basis();
}
inline constexpr std::uint64_t kLayoutHash = hash_of_layout();

}  // namespace tidemark::segment
