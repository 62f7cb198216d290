// What a process has counted on one device, made fit for a server that adds up: never falling, whatever is reset.
#pragma once

#include "shared/segment/reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark::viewer {

enum class DeviceCounter : std::uint32_t {
  Allocations,
  Deallocations,
  AllocationBytes,
  DeallocationBytes,
  DriverAllocations,
  DriverDeallocations,
  DriverNs,
  FreeWaitNs,
  Retries,
  Ooms,
  LimitRejections,
  CacheFlushes,
  PassedThrough,
  count_
};
inline constexpr std::size_t kDeviceCounters = static_cast<std::size_t>(DeviceCounter::count_);

struct DeviceCounters {
  std::array<std::uint64_t, kDeviceCounters> values{};

  [[nodiscard]] std::uint64_t& operator[](DeviceCounter counter) { return values[static_cast<std::size_t>(counter)]; }
  [[nodiscard]] std::uint64_t operator[](DeviceCounter counter) const {
    return values[static_cast<std::size_t>(counter)];
  }
  DeviceCounters& operator+=(const DeviceCounters& more);
  bool operator==(const DeviceCounters&) const = default;
};

// As the process counts them, from its beginning or its last reset-accumulated.
[[nodiscard]] DeviceCounters counters_of(const DeviceBasis& basis);

// Follows one device of one process. What it counted between the last look and a reset is not seen: a second's worth.
class CounterFollower {
 public:
  // From the process's beginning on.
  CounterFollower() = default;
  // From this look on.
  explicit CounterFollower(const DeviceBasis& basis);

  // What came since the last look.
  [[nodiscard]] DeviceCounters follow(const DeviceBasis& basis);

 private:
  DeviceCounters highest_;  // since the reset
  std::uint64_t reset_time_ns_ = 0;
};

}  // namespace tidemark::viewer
