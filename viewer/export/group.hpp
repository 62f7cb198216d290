// What the exporter knows of processes that belong together: those of one program under one label, or with
// --per-process each for itself. Values only.
#pragma once

#include "viewer/export/device_counters.hpp"
#include "viewer/export/peak_window.hpp"
#include "viewer/export/readers.hpp"
#include "viewer/model/view.hpp"

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

// The command under which everything goes that --max-series has no room for.
inline constexpr const char* kOtherCommand = "_other";

struct GroupKey {
  std::string command;
  std::string label;
  std::string id;   // of one process; empty: of all
  std::string pid;  // as the viewer counts; empty: of all, or unknown

  auto operator<=>(const GroupKey&) const = default;
};

[[nodiscard]] GroupKey key_of(const ProcessView& process, bool per_process);

struct DeviceKey {
  std::string backend;
  std::string uuid;

  auto operator<=>(const DeviceKey&) const = default;
};

// One rank of a job on one device.
struct Member {
  std::int64_t rank = -1;
  std::uint64_t allocated = 0;
  std::uint64_t held = 0;
  std::uint64_t allocated_peak = 0;
  std::uint64_t reserved_peak = 0;
};

// Of the living processes of a group on one device, made anew at every look: sums, but the highest of each peak and
// the lowest limit.
struct LiveNumbers {
  std::uint64_t processes = 0;
  Figures sums;  // requested, allocated, pending, split, reserved and held alone
  std::uint64_t live_allocations = 0;
  std::uint64_t segments = 0;
  std::uint64_t active_blocks = 0;
  std::uint64_t split_blocks = 0;
  std::uint64_t requested_peak = 0;
  std::uint64_t active_peak = 0;
  std::uint64_t split_peak = 0;
  Peaks peaks;           // since the last reset
  Peaks lifetime_peaks;  // of all time
  std::uint64_t peak_reset_ns = 0;
  std::optional<std::uint64_t> limit;
  std::array<std::optional<std::uint64_t>, kDeviceKinds> kinds;  // none: never used
  std::vector<Member> members;                                   // that have a rank, by their ranks

  void add(const ProcessView& process, const DeviceView& device);
};

struct DeviceGroup {
  LiveNumbers now;
  // Of dead processes, too.
  DeviceCounters totals;
  std::uint64_t held_at_exit = 0;
  std::uint64_t last_oom_ns = 0;  // CLOCK_REALTIME; 0: none
  PeakWindow window;
  std::uint64_t unasked = 0;  // living processes whose window peaks nobody knows
  std::chrono::steady_clock::time_point since;
  ReaderSet shown_to = 0;  // who has had it on a page: on the first one its counters are at 0
};

struct Group {
  std::map<DeviceKey, DeviceGroup> devices;
  std::uint64_t processes = 0;  // living ones
  std::uint64_t exited = 0;
  std::uint64_t killed = 0;
  std::uint64_t untracked = 0;  // calls
  std::uint64_t foreign_frees = 0;
  std::array<std::optional<std::uint64_t>, kHostKinds> host_kinds;  // none: not counted, or never used
  std::chrono::steady_clock::time_point last_alive;
  std::chrono::steady_clock::time_point since;
  ReaderSet shown_to = 0;  // as of a device
};

}  // namespace tidemark::viewer
