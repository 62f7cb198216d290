// What a process says about itself and its devices: the plain values on both sides of the segment.
//
// The numbers of the enumerators are part of the layout: never change one, add at the end. 0 means "not known".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shared/segment/text.hpp"

namespace tidemark::segment {

inline constexpr std::size_t kDeviceSlots = 16;
inline constexpr std::size_t kAckSlots = 31;
inline constexpr std::size_t kAckResults = 8;

// What the library does in the whole process; a device's own mode is in its basis (DeviceMode).
enum class ProcessMode : std::uint32_t { Unknown = 0, Cache = 1, Count = 2, Off = 3 };

// Which entry points own the CUDA allocations (DESIGN D1).
enum class Layer : std::uint32_t { Undecided = 0, Driver = 1, Runtime = 2, Both = 3 };

// TIDEMARK_CONTROL: which requests are obeyed.
enum class ControlPolicy : std::uint32_t { Unknown = 0, Off = 1, Peaks = 2, Full = 3 };

// The program's own memory pool, if one was seen: our `allocated` is then its `reserved`.
enum class InnerPool : std::uint32_t { None = 0, Torch = 1, Xla = 2, Cupy = 3, Rmm = 4, Tensorflow = 5 };

enum class Backend : std::uint32_t { Unknown = 0, Cuda = 1, Mtia = 2 };

// Bits of GlobalState::flags.
enum class ProcessFlag : std::uint64_t {
  ServiceThread = 1u << 0,   // requests are seen at once, also in an idle process
  FastFree = 1u << 1,        // TIDEMARK_FREE=fast
  HadOutOfMemory = 1u << 2,  // at least one allocation failed
  Recording = 1u << 3,       // memory history is being written
  GivenUp = 1u << 4,         // the process ended and wanted its files removed
  ControlClosed = 1u << 5,   // the control file was removed, replaced or is out of reach: no requests any more
};

// "cuda", "mtia"; "cache", ...; "driver", ...; "torch", ...; an unknown value reads "?". Layer, InnerPool: "" for none.
[[nodiscard]] const char* to_text(Backend) noexcept;
[[nodiscard]] const char* to_text(ProcessMode) noexcept;
[[nodiscard]] const char* to_text(Layer) noexcept;
[[nodiscard]] const char* to_text(ControlPolicy) noexcept;
[[nodiscard]] const char* to_text(InnerPool) noexcept;

// Rank of a distributed job, as torchrun, Open MPI or Slurm say it; -1 = not known.
struct Rank {
  std::int64_t global = -1;
  std::int64_t local = -1;
  std::int64_t world = -1;
};

struct DeviceInfo {
  Backend backend = Backend::Unknown;
  std::uint32_t ordinal = 0;  // the process's own: cuda:0 is ordinal 0 of backend cuda
  std::array<std::uint8_t, 16> uuid{};
  Text<96> name;
  Text<16> pci_bus_id;  // "0000:65:00.0"; empty = unknown
  std::uint64_t capacity_bytes = 0;
  bool simulated = false;
};

// How often the hooks ran; counted privately, published with each beat.
struct HookCounts {
  std::uint64_t hook_calls = 0;        // calls of exported functions; 0 = not counted
  std::uint64_t forwarded_calls = 0;   // of these, handed on untouched
  std::uint64_t lookups = 0;           // dlsym, for any name
  std::uint64_t resolver_lookups = 0;  // cuGetProcAddress, mtiaGetProcAddress
  std::uint64_t swapped_lookups = 0;   // look-ups that were answered with a function of ours
  std::uint64_t foreign_frees = 0;     // of device memory that no book knows: handed on, the driver says what it is
};

// State of a request. Running and Deferred are followed by one of the others, with the same ticket.
enum class AckStatus : std::uint32_t {
  None = 0,
  Done = 1,
  Running = 2,
  Deferred = 3,    // parked until the program's next call; `detail` says why
  Refused = 4,     // not allowed (policy), or its viewer had gone before it began
  Superseded = 5,  // withdrawn before it ran
  Invalid = 6,     // no such operation, device or argument
  Failed = 7,      // tried, and it did not work
};

struct Acknowledgement {
  std::uint64_t ticket = 0;
  AckStatus status = AckStatus::None;
  std::uint32_t operation = 0;  // control::Operation
  std::uint64_t time_realtime_ns = 0;
  std::array<std::uint64_t, kAckResults> results{};
  Text<128> detail;
};

}  // namespace tidemark::segment
