// What every operation of the device core answers, and the names of things in it. A driver maps these to its own codes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sim {

enum class Status {
  Ok,
  InvalidValue,    // a pointer or size that no live allocation covers; a double, interior or foreign free
  OutOfMemory,     // the device's capacity, or the host's address space (mmap failed, ulimit -v)
  InvalidHandle,   // no such context, stream or event (any more)
  NotReady,        // asked about, and still under way
  IllegalAddress,  // work met memory that had been freed meanwhile; sticky for its context
};

// Device addresses are ordinary 64-bit addresses that the host can neither read nor write; unique in the process across
// devices. Host addresses share the same number space.
using Address = std::uint64_t;

// Virtual time. A driver may show one tick as one microsecond.
using Ticks = std::uint64_t;

// Handles are numbers, never dereferenced, never used twice in a process, and never small: a stale one is always
// noticed. Context and stream 0 do not exist.
enum class ContextId : std::uint64_t {};
enum class StreamId : std::uint64_t {};
enum class EventId : std::uint64_t {};

}  // namespace sim
