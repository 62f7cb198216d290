#include "viewer/export/device_counters.hpp"

#include "shared/segment/derive.hpp"

#include <algorithm>

namespace tidemark::viewer {
namespace {

// The keys are of the fixed list, so they are there.
struct CounterKeys {
  segment::StatKey allocations = *segment::find_stat("allocation.all.allocated");
  segment::StatKey deallocations = *segment::find_stat("allocation.all.freed");
  segment::StatKey allocation_bytes = *segment::find_stat("allocated_bytes.all.allocated");
  segment::StatKey deallocation_bytes = *segment::find_stat("allocated_bytes.all.freed");
};

}  // namespace

DeviceCounters& DeviceCounters::operator+=(const DeviceCounters& more) {
  for (std::size_t i = 0; i < kDeviceCounters; ++i) {
    values[i] += more.values[i];
  }
  return *this;
}

DeviceCounters counters_of(const DeviceBasis& basis) {
  static const CounterKeys keys;
  // Hostile numbers could make a derived one negative.
  const auto stat = [&](segment::StatKey key) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(segment::stat_value(basis, key), 0));
  };
  using enum DeviceCounter;
  DeviceCounters counters;
  counters[Allocations] = stat(keys.allocations);
  counters[Deallocations] = stat(keys.deallocations);
  counters[AllocationBytes] = stat(keys.allocation_bytes);
  counters[DeallocationBytes] = stat(keys.deallocation_bytes);
  counters[DriverAllocations] = basis[BasisWord::device_allocs];
  counters[DriverDeallocations] = basis[BasisWord::device_frees];
  counters[DriverNs] = basis[BasisWord::driver_ns];
  counters[FreeWaitNs] = basis[BasisWord::free_wait_ns];
  counters[Retries] = basis[BasisWord::alloc_retries];
  counters[Ooms] = basis[BasisWord::oom_count_lifetime];
  counters[LimitRejections] = basis[BasisWord::limit_rejections_lifetime];
  counters[CacheFlushes] = basis[BasisWord::sync_all_streams];
  counters[PassedThrough] = basis[BasisWord::passed_through];
  return counters;
}

CounterFollower::CounterFollower(const DeviceBasis& basis)
    : highest_(counters_of(basis)), reset_time_ns_(basis[BasisWord::accumulated_reset_time_ns]) {}

// A number may step back for an instant (what a driver refused is counted back), so the highest one is what counts.
DeviceCounters CounterFollower::follow(const DeviceBasis& basis) {
  const DeviceCounters now = counters_of(basis);
  const std::uint64_t reset_time_ns = basis[BasisWord::accumulated_reset_time_ns];
  if (reset_time_ns != reset_time_ns_) {
    reset_time_ns_ = reset_time_ns;
    DeviceCounters anew;
    for (const DeviceCounter untouched : {DeviceCounter::Ooms, DeviceCounter::LimitRejections}) {
      anew[untouched] = highest_[untouched];
    }
    highest_ = anew;
  }
  DeviceCounters growth;
  for (std::size_t i = 0; i < kDeviceCounters; ++i) {
    growth.values[i] = now.values[i] > highest_.values[i] ? now.values[i] - highest_.values[i] : 0;
    highest_.values[i] = std::max(highest_.values[i], now.values[i]);
  }
  return growth;
}

}  // namespace tidemark::viewer
