// What there is to say about a snapshot, as numbers: report_text, report_json and the page say them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/history/holders.hpp"
#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::viewer {

// How a pool's memory is cut up.
struct PoolReport {
  const char* name = "";
  std::uint64_t segments = 0;
  std::uint64_t reserved = 0;
  std::uint64_t allocated = 0;
  std::uint64_t pending = 0;
  std::uint64_t free = 0;
  std::uint64_t free_blocks = 0;
  std::uint64_t largest_free = 0;
  std::uint64_t split_free = 0;  // in segments that are partly in use: none of it can be given back
  std::uint64_t idle_segments = 0;
};

// The most there was in a part of the time.
struct TimePart {
  std::uint64_t time_ns = 0;  // where it begins
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
};

// Failed allocations of one size by the same calls.
struct OutOfMemory {
  std::uint64_t time_ns = 0;       // of the first
  std::uint64_t last_time_ns = 0;  // of the last, and so are the bytes below
  std::uint64_t times = 0;
  std::uint64_t requested = 0;
  std::uint64_t device_free = 0;
  std::optional<std::uint64_t> limit{};  // of the device, if that refused it and not the driver
  Frames frames{};                       // who asked; empty: not known
};

struct DeviceReport {
  std::string device{};  // "cuda:0"
  std::string model{};
  Held all{};
  std::uint64_t pending = 0;
  std::uint64_t reserved = 0;
  std::uint64_t segments = 0;
  std::vector<StackHeld> stacks{};
  std::vector<SizeHeld> sizes{};
  std::vector<AgeHeld> ages{};
  std::array<PoolReport, 2> pools{};  // small, large
  // Of the events that are there, in equal parts; none without events.
  std::vector<TimePart> timeline{};
  std::uint64_t timeline_end_ns = 0;
  std::optional<TimePart> highest{};         // when most was allocated, exactly
  std::vector<OutOfMemory> out_of_memory{};  // by their first
  std::uint64_t events = 0;
};

struct Report {
  SnapshotSource source{};
  history::Recording recording{};
  std::uint64_t time_ns = 0;
  std::vector<DeviceReport> devices{};
};

// `parts`: how finely the time is told.
[[nodiscard]] Report report_of(const MemorySnapshot& snapshot, std::size_t parts);

}  // namespace tidemark::viewer
