// What torch.accelerator.memory_* and tensors ask: PyTorch's allocator of MTIA devices, over the driver's own calls.
#include <c10/core/CachingDeviceAllocator.h>

#include "client/include/tidemark/tidemark.h"
#include "client/torch_mtia/mtia_calls.hpp"

namespace tidemark::torch_mtia {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;

c10::CachingAllocator::Stat stat_of(const tidemark_stat& from) {
  c10::CachingAllocator::Stat to;
  to.current = from.current;
  to.peak = from.peak;
  to.allocated = from.allocated;
  to.freed = from.freed;
  return to;
}

c10::CachingAllocator::StatArray stats_of(const tidemark_stat_array& from) {
  c10::CachingAllocator::StatArray to;  // all, small, large
  to[0] = stat_of(from.all);
  to[1] = stat_of(from.small_pool);
  to[2] = stat_of(from.large_pool);
  return to;
}

class Allocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const memory = torch_mtia::allocate(bytes);
    return {memory, memory, &release, c10::Device(c10::DeviceType::MTIA, current_device())};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { copy(to, from, bytes); }

  bool initialized() override { return tidemark_is_initialized("mtia") == 1; }
  void emptyCache(c10::MempoolId_t = {0, 0}) override { check(tidemark_empty_cache(nullptr, "all")); }
  // A free of the driver waits for the whole device: no stream can be too late.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}

  DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    tidemark_device_stats from{};
    from.size = sizeof from;
    const int code = tidemark_memory_stats(nullptr, DeviceName{device}.text, &from);
    if (code != TIDEMARK_ERROR_NOT_INITIALIZED) {
      check(code);
    }
    DeviceStats to;
    to.allocation = stats_of(from.allocation);
    to.segment = stats_of(from.segment);
    to.active = stats_of(from.active);
    to.inactive_split = stats_of(from.inactive_split);
    to.allocated_bytes = stats_of(from.allocated_bytes);
    to.reserved_bytes = stats_of(from.reserved_bytes);
    to.active_bytes = stats_of(from.active_bytes);
    to.inactive_split_bytes = stats_of(from.inactive_split_bytes);
    to.requested_bytes = stats_of(from.requested_bytes);
    to.num_alloc_retries = from.num_alloc_retries;
    to.num_ooms = from.num_ooms;
    to.oversize_allocations = stat_of(from.oversize_allocations);
    to.oversize_segments = stat_of(from.oversize_segments);
    to.num_sync_all_streams = from.num_sync_all_streams;
    to.num_device_alloc = from.num_device_alloc;
    to.num_device_free = from.num_device_free;
    to.max_split_size = from.max_split_size;
    return to;
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    check(tidemark_reset_accumulated_memory_stats(nullptr, DeviceName{device}.text));
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    check(tidemark_reset_peak_memory_stats(nullptr, DeviceName{device}.text));
  }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) override {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
    check(tidemark_get_memory_info(nullptr, DeviceName{device}.text, &free, &total));
    return {free, total};
  }
};

// Never destroyed: tensors may outlive everything.
Allocator& allocator() {
  static auto* const made = new Allocator;
  return *made;
}

const bool is_registered = [] {
  c10::SetAllocator(c10::DeviceType::MTIA, &allocator());
  return true;
}();

}  // namespace
}  // namespace tidemark::torch_mtia
