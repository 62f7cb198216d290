// The bytes of a control file: 4 KiB, written only by viewers, read by the host with pread and validated as a private
// copy.
//
//   0    head, 64 bytes: magic, version, nonce of the segment it belongs to, bell
//   64   31 request slots of 128 bytes
//
// A viewer owns slot n while it holds the OFD lock on the byte kSlotLockOffset + n (behind the end of the file, which
// is legal); the kernel frees it when the viewer dies. A request is written with one pwrite and counts when its
// checksum is right. Tickets of a slot grow; a ticket runs at most once. The bell is set to another random value (not
// incremented: that would need a mapping, and a truncated file would kill the viewer) and its waiter woken.
//
// No clock decides about a request: clocks are set, and containers may have their own. A viewer that gives up withdraws
// what it posted; one that died doesn't hold its slot any more, and what it waited for is not begun.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "shared/segment/process_words.hpp"
#include "shared/segment/writer.hpp"

namespace tidemark::control {

// Never renumber.
enum class Operation : std::uint32_t {
  Nop = 0,  // arguments[0]: a ticket to withdraw, 0 = none
  Ping = 1,
  ResetPeak = 2,
  ResetAccumulated = 3,
  EmptyCache = 4,  // arguments[0]: 1 = now, from the service thread (`--now`)
  SetLimit = 5,    // arguments[0]: bytes
  ClearLimit = 6,
  RecordStart = 7,  // arguments: what (1 = state, 2 = all), stacks (RecordStacks), max_entries (0 = default)
  RecordStop = 8,
  Snapshot = 9,  // arguments[0]: 0 = counters and blocks, 1 = with history
  // The slot's own peaks, which nobody else's requests touch: from now on; and since then, of one device.
  BeginPeak = 10,
  ReadPeak = 11,  // results: allocated, reserved, held
};
inline constexpr std::uint32_t kOperations = 12;
[[nodiscard]] const char* to_text(Operation operation) noexcept;  // "reset-peak", ...

enum class RecordStacks : std::uint32_t { None = 0, Cpp = 1, Python = 2, All = 3 };

inline constexpr std::uint32_t kAllDevices = 0xFFFFFFFF;
inline constexpr std::size_t kRequestSlots = segment::kAckSlots;
inline constexpr std::uint64_t kSlotLockOffset = std::uint64_t{1} << 20;
inline constexpr std::size_t kControlBytes = 4096;
// A slot's next ticket is last + 1; a jump beyond this is garbage, not a request.
inline constexpr std::uint64_t kMaxTicketJump = std::uint64_t{1} << 20;

inline constexpr std::uint64_t kControlMagic = 0x014C544B52444954;  // "TIDRKTL\x01"
inline constexpr std::uint16_t kControlMajor = 1;
inline constexpr std::uint16_t kControlMinor = 0;

struct ControlHead {
  std::uint64_t magic = kControlMagic;
  std::uint16_t major = kControlMajor;
  std::uint16_t minor = kControlMinor;
  std::uint32_t slot_count = static_cast<std::uint32_t>(kRequestSlots);
  std::uint32_t slot_stride = 128;
  std::uint32_t slots_offset = 64;
  std::uint64_t nonce = 0;
  std::uint32_t bell = 0;
  std::uint32_t reserved_bell = 0;
  std::array<std::uint64_t, 3> reserved{};
};
static_assert(sizeof(ControlHead) == 64 && offsetof(ControlHead, major) == 8 && offsetof(ControlHead, minor) == 10);
static_assert(offsetof(ControlHead, slot_count) == 12 && offsetof(ControlHead, slot_stride) == 16);
static_assert(offsetof(ControlHead, slots_offset) == 20 && offsetof(ControlHead, nonce) == 24);
static_assert(offsetof(ControlHead, bell) == 32 && offsetof(ControlHead, reserved) == 40);

// Once the place of a deadline in CLOCK_REALTIME: this value is one that never passes.
inline constexpr std::uint64_t kAwaited = UINT64_MAX;

struct RequestRecord {
  std::uint64_t ticket = 0;    // 0 = never used
  std::uint64_t checksum = 0;  // checksum_of
  std::uint32_t operation = 0;
  std::uint32_t device = kAllDevices;  // a slot of the segment's DEVICES, or all
  std::array<std::uint64_t, 4> arguments{};
  std::uint64_t awaited = 0;     // not 0 (kAwaited): not to be begun once nobody holds the slot
  std::uint32_t client_pid = 0;  // information only: authority is the file's mode
  std::uint32_t client_uid = 0;
  std::array<std::uint64_t, 7> reserved{};
};
static_assert(sizeof(RequestRecord) == 128 && offsetof(RequestRecord, checksum) == 8);
static_assert(offsetof(RequestRecord, operation) == 16 && offsetof(RequestRecord, device) == 20);
static_assert(offsetof(RequestRecord, arguments) == 24 && offsetof(RequestRecord, awaited) == 56);
static_assert(offsetof(RequestRecord, client_pid) == 64 && offsetof(RequestRecord, client_uid) == 68);
static_assert(offsetof(RequestRecord, reserved) == 72);

struct ControlImage {
  ControlHead head;
  std::array<RequestRecord, kRequestSlots> slots;
};
static_assert(sizeof(ControlImage) <= kControlBytes && std::is_trivially_copyable_v<ControlImage>);

// Over every word of the record but the checksum itself; never 0.
[[nodiscard]] std::uint64_t checksum_of(const RequestRecord& request) noexcept;

// For WriterOptions::control.
[[nodiscard]] const segment::CompanionFile& companion_file() noexcept;

}  // namespace tidemark::control
