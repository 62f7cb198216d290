// What a process says of its memory when it ends (TIDEMARK_REPORT): three lines. What it needed at most and still
// holds; what the cache saved and what waiting cost, with the setting that would help; the next command to type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "shared/base/device_basis.hpp"

namespace tidemark::runtime {

// Of one device, from its counters. `name`: "cuda:0".
struct DeviceAtExit {
  char name[16] = "";
  std::uint64_t peak_allocated = 0;  // of its whole life
  std::uint64_t peak_held = 0;
  std::uint64_t left_bytes = 0;   // of every kind of memory; what is idle in the cache is not left
  std::uint64_t left_blocks = 0;  // of cached memory
  std::uint64_t allocations = 0;
  std::uint64_t hits = 0;
  std::uint64_t driver_calls = 0;
  std::uint64_t driver_ns = 0;
  std::uint64_t free_wait_ns = 0;
  std::uint64_t ooms = 0;
};
[[nodiscard]] DeviceAtExit at_exit(const char* backend, unsigned ordinal, const DeviceBasis& basis) noexcept;

struct ProcessAtExit {
  std::string_view command{};  // as somebody would type it
  int pid = 0;
  std::uint64_t lived_ns = 0;   // since its first allocation
  bool is_counting = false;     // nothing is cached
  bool waits_in_frees = false;  // TIDEMARK_FREE=strict
  bool splits = false;          // large:split
  bool is_kept = false;         // its files stay
  bool is_recorded = false;
  std::string_view oom_snapshots{};  // TIDEMARK_SNAPSHOT_ON_OOM
};

// The lines, each with "tidemark: " before it; how many bytes of `into`. Nothing for a process without devices.
[[nodiscard]] std::size_t exit_report(const ProcessAtExit& process, std::span<const DeviceAtExit> devices,
                                      std::span<char> into) noexcept;

// In one piece to stderr ("stderr", and "terminal" where stderr is one), or at the end of a file by the pattern
// (path_pattern.hpp). Never waits (own_line.hpp); says why a file can't be written.
void write_exit_report(std::string_view destination, std::string_view report) noexcept;

}  // namespace tidemark::runtime
