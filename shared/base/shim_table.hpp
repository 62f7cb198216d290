// What the preload library offers the client library in the same process: one exported C function that gives this
// table. The two may be of different versions, so this is an ABI: fixed-width types and plain pointers; entries and
// numbers are never changed, new entries come at the end, and `bytes` says how many there are. Sizes in bytes.
//
// Threads: any, for every entry; none may be called from a signal handler. Nothing here throws, and no entry calls back
// but for observers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

inline constexpr std::uint32_t kShimAbi = 1;
inline constexpr char kShimFunction[] = "tidemark_shim_v1";

// Every entry's answer but where it says otherwise; negative, so that entries with numbers can say it too.
enum ShimCode : std::int32_t {
  kShimOk = 0,
  kShimNotServed = -1,     // TIDEMARK_MODE=off, TIDEMARK_SKIP: the library only forwards
  kShimNoDevice = -2,      // nothing was ever allocated there
  kShimInvalid = -3,       // no such thing
  kShimBusy = -4,          // not now: a capture is open, or all places are taken
  kShimUnsupported = -5,   // not in this process: no segment with a name (TIDEMARK_SHM)
  kShimNoSpace = -6,       // file system or memory
  kShimDriverFailed = -7,  // the driver refused
  kShimSystem = -8,        // a system call failed; errno says why
};

// `backend` as in a segment: 1 CUDA, 2 MTIA. `ordinal` is the process's own.
struct ShimDevice {
  std::uint32_t backend;
  std::uint32_t ordinal;
};

// Called in the thread whose allocation failed for want of memory, without a lock, before that call returns. It may use
// every entry, allocate and free; a failure that it meets itself calls nobody. It must not throw.
using ShimObserver = void (*)(std::int32_t device, std::int64_t size, std::int64_t total, std::int64_t free,
                              void* data);

struct ShimTable {
  std::uint32_t abi;          // kShimAbi
  std::uint32_t bytes;        // sizeof(ShimTable) of the library
  std::uint32_t basis_words;  // of `counters`
  std::uint32_t reserved;

  std::int32_t (*is_served)();  // kShimOk or kShimNotServed
  // The devices that memory was asked of, in order of their first time: how many there are, of which `found` gets as
  // many as it has room for.
  std::int32_t (*devices)(ShimDevice* found, std::uint32_t room);

  // `basis_words` words of a DeviceBasis, of one moment.
  std::int32_t (*counters)(ShimDevice device, std::uint64_t* words);
  std::int32_t (*reset_peaks)(ShimDevice device);
  std::int32_t (*reset_host_peaks)();  // of pinned memory and its like
  std::int32_t (*reset_accumulated)(ShimDevice device);
  std::int32_t (*empty_cache)(ShimDevice device);
  std::int32_t (*set_limit)(ShimDevice device, std::uint64_t bytes);  // 0: none

  // history::Enabled (1 state, 2 all), history::Stacks, events a device (0: the default). Before the first allocation:
  // begins with it.
  std::int32_t (*record)(std::uint32_t enabled, std::uint32_t stacks, std::uint64_t max_entries);
  std::int32_t (*stop_recording)();
  std::int32_t (*save_snapshot)(const char* path);  // a new file, as the library writes it (.tmsnap)

  // Observers outlive a fork. A detached one may just be running in another thread.
  std::int32_t (*attach_observer)(ShimObserver observer, void* data);
  std::int32_t (*detach_observer)(ShimObserver observer, void* data);

  // A scope with peaks of its own on every device: a ticket (not negative), or a code. Tickets of a forked child's
  // parent are kShimInvalid in the child.
  std::int64_t (*open_phase)();
  std::int32_t (*close_phase)(std::int64_t phase);
  // counters(), as if the peaks had been reset when the phase was opened.
  std::int32_t (*phase_counters)(std::int64_t phase, ShimDevice device, std::uint64_t* words);

  // The number and the label of this process's segment; `label` gets as much as `room` has place for, with its NUL.
  // kShimUnsupported: there is no segment (yet).
  std::int32_t (*identity)(std::uint64_t* nonce, char* label, std::uint32_t room);
};

// What every library of this ABI has; entries behind it are asked for with `bytes`.
inline constexpr std::uint32_t kShimFirstBytes = offsetof(ShimTable, identity);

// Null: the library has no table of this ABI.
using ShimFunction = const ShimTable* (*)(std::uint32_t abi);

}  // namespace tidemark
