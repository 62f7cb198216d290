// What a stream can be asked to do. Memory is read and written when the work completes, never when it is submitted (but
// see HostSource): whoever hands a block out too early is found out by the late write, at the same place in every run.
#pragma once

#include <variant>
#include <vector>

#include "simulator/core/status.hpp"

namespace sim {

// When a copy reads its source, if that is host memory: at once, so that the caller may change it after the call
// (pageable memory), or when the work completes (pinned memory).
enum class HostSource { Staged, Late };

// Slices of rows of `width` bytes; one row is a plain copy. Either side may be host memory or memory of any device.
struct Copy {
  Address to = 0;
  Address from = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t to_pitch = 0;  // unused with one row
  std::uint64_t from_pitch = 0;
  std::uint64_t depth = 1;
  std::uint64_t to_slice = 0;  // bytes from one slice to the next, unused with one
  std::uint64_t from_slice = 0;
  HostSource host_source = HostSource::Staged;
  std::vector<std::byte> staged{};  // filled by Machine::submit
};

// The lowest `element` bytes of `value` (1, 2, 4 or 8), repeated. Device memory, or host memory that a driver says the
// device reaches.
struct Fill {
  Address to = 0;
  std::uint64_t value = 0;
  unsigned element = 1;
  std::uint64_t width = 0;  // bytes a row, a multiple of `element`
  std::uint64_t height = 1;
  std::uint64_t pitch = 0;
  bool on_host = false;
};

// Runs on a thread of the simulator, which no driver function may be called from (Scheduler::in_host_function).
struct HostFunction {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};

// Computes nothing and takes its time.
struct Kernel {
  Ticks duration = 0;
};

// Completes when all before it has; events and waits are made of it.
struct Marker {};

using Work = std::variant<Copy, Fill, HostFunction, Kernel, Marker>;

// Copies and fills take 64 ticks and one more for each 16 MiB; host functions and markers none.
[[nodiscard]] Ticks duration_of(const Work& work);

}  // namespace sim
