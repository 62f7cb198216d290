#include "tests/viewer/sample_view.hpp"

#include <utility>

namespace tidemark::viewer {
namespace {

void set_peaks(DeviceBasis& basis, BasisWord bytes_of_all, BasisWord bytes_of_large, std::uint64_t value) {
  basis[bytes_of_all] = value;
  basis[bytes_of_large] = value;
}

}  // namespace

segment::DeviceSnapshot sample_device(segment::Backend backend, std::uint32_t ordinal, const SampleUse& use) {
  using enum BasisWord;
  segment::DeviceSnapshot device;
  device.slot = ordinal;
  device.info.backend = backend;
  device.info.ordinal = ordinal;
  device.info.uuid = {0x9f, 0x3c, 0x01, 0xaa, static_cast<std::uint8_t>(backend), 0, 0, 0, 0, 0, 0,
                      0,    0,    0,    0,    static_cast<std::uint8_t>(ordinal)};
  device.info.name = backend == segment::Backend::Cuda ? "Simulated CUDA device" : "Simulated MTIA device";
  device.info.capacity_bytes = (8_GiB).count();
  device.info.simulated = true;
  device.kinds.emplace();

  DeviceBasis& basis = device.basis;
  const std::uint64_t allocated = use.allocated.count();
  const std::uint64_t requested = allocated == 0 ? 0 : allocated - 100;
  basis[large_live_blocks] = allocated == 0 ? 0 : 1;
  basis[large_live_bytes] = allocated;
  basis[large_requested_bytes] = requested;
  basis[large_allocations_total] = use.hits + use.misses;
  basis[large_allocated_bytes_total] = use.peak.count() * 2;
  basis[large_requested_bytes_total] = use.peak.count() * 2;
  basis[large_segments] = use.reserved.count() == 0 ? 0 : 1;
  basis[large_segments_total] = use.misses;
  basis[large_reserved_bytes] = use.reserved.count();
  basis[large_reserved_bytes_total] = use.reserved.count();
  basis[misses] = use.misses;
  basis[device_allocs] = use.misses;
  basis[held_bytes] = use.reserved.count();
  basis[held_peak_bytes] = use.reserved.count();
  set_peaks(basis, peak_all_allocation, peak_large_allocation, 1);
  set_peaks(basis, peak_all_allocated_bytes, peak_large_allocated_bytes, use.peak.count());
  set_peaks(basis, peak_all_requested_bytes, peak_large_requested_bytes, use.peak.count());
  set_peaks(basis, peak_all_active, peak_large_active, 1);
  set_peaks(basis, peak_all_active_bytes, peak_large_active_bytes, use.peak.count());
  set_peaks(basis, peak_all_segment, peak_large_segment, 1);
  set_peaks(basis, peak_all_reserved_bytes, peak_large_reserved_bytes, use.reserved.count());
  basis[lifetime_peak_allocated_bytes] = use.peak.count();
  basis[lifetime_peak_reserved_bytes] = use.reserved.count();
  basis[lifetime_peak_held_bytes] = use.reserved.count();
  basis[peak_reset_time_ns] = kSampleNow - 60 * kSampleSecond;
  basis[driver_ns] = 12'345'678;
  basis[free_wait_ns] = 850;
  basis[max_split_size] = ~std::uint64_t{0};
  basis[capacity_bytes] = device.info.capacity_bytes;
  return device;
}

ProcessView sample_process(const SampleProcess& process, std::vector<segment::DeviceSnapshot> devices) {
  segment::ProcessSnapshot snapshot;
  auto& identity = snapshot.identity;
  identity.id = process.id;
  identity.pid = process.pid;
  identity.start_ticks = 1000;
  identity.ticks_per_second = 100;
  identity.create_boottime_ns = 15 * kSampleSecond;
  identity.create_realtime_ns = kSampleNow - 187 * kSampleSecond;
  identity.uid = 1000;
  identity.file_uid = 1000;
  identity.command = process.command;
  identity.label = process.label;
  identity.shim_version = "0.1.0";
  snapshot.state = process.state;
  snapshot.pid = process.pid;
  snapshot.globals.mode = segment::ProcessMode::Cache;
  snapshot.globals.layer = segment::Layer::Driver;
  snapshot.globals.control_policy = segment::ControlPolicy::Full;
  snapshot.globals.flags = static_cast<std::uint64_t>(segment::ProcessFlag::ServiceThread);
  snapshot.globals.heartbeat_count = 187;
  snapshot.globals.hooks = {
      .hook_calls = 12345, .forwarded_calls = 12, .lookups = 3, .resolver_lookups = 4, .swapped_lookups = 5};
  snapshot.devices = std::move(devices);
  ProcessView view = view_of(std::move(snapshot));
  view.settings = {{.name = "free", .value = "strict"}, {.name = "limit", .value = ""}};
  const auto uses = [](std::initializer_list<segment::SymbolUse> all) {
    std::uint64_t bits = 0;
    for (const segment::SymbolUse use : all) {
      bits |= static_cast<std::uint64_t>(use);
    }
    return bits;
  };
  using enum segment::SymbolUse;
  view.coverage = {{.name = "cuGetExportTable", .uses = uses({Entered}), .unaccounted_calls = 5},
                   {.name = "cuGraphAddMemAllocNode", .uses = uses({Entered}), .unaccounted_calls = 2},
                   {.name = "cuMemAllocAsync", .uses = uses({Entered, Resolved}), .unaccounted_calls = 1},
                   {.name = "cuMemAlloc_v2", .uses = uses({Entered, Resolved, Swapped})},
                   {.name = "cuMemCreate", .uses = uses({Missed, Swapped})},
                   {.name = "cuMemFree_v2", .uses = uses({Resolved})},
                   {.name = "cudaFree"},
                   {.name = "cudaMalloc", .uses = uses({Entered, Swapped})}};
  return view;
}

View sample_view() {
  using segment::Backend;
  using segment::ProcessState;
  View view{.host = "node7", .time_ns = kSampleNow, .processes = {}, .hidden = {}, .skipped = {}};
  view.processes.push_back(sample_process(
      {.id = "9f3c01aa", .pid = 4711, .command = "python3 train.py", .label = "eval"},
      {sample_device(Backend::Cuda, 0,
                     {.allocated = 1_GiB, .peak = 3_GiB, .reserved = 4_GiB, .hits = 9990, .misses = 10}),
       sample_device(Backend::Cuda, 1,
                     {.allocated = 300_MiB, .peak = 300_MiB, .reserved = 302_MiB, .hits = 0, .misses = 3})}));
  view.processes.push_back(sample_process(
      {.id = "00c0ffee", .pid = 4712, .command = "mtia_train"},
      {sample_device(
          Backend::Mtia, 0,
          {.allocated = 1023_MiB, .peak = 7_GiB, .reserved = Bytes{7'600'000'000}, .hits = 5, .misses = 5})}));
  view.processes.push_back(sample_process(
      {.id = "11112222", .pid = 4194303, .command = "waiting", .label = "", .state = ProcessState::Stopped}, {}));
  view.processes.push_back(
      sample_process({.id = "deadbeef", .pid = 99, .command = "crashed", .label = "", .state = ProcessState::Killed},
                     {sample_device(Backend::Cuda, 0,
                                    {.allocated = 512_B, .peak = 1_KiB, .reserved = 2_MiB, .hits = 0, .misses = 1})}));
  view.hidden.push_back({.id = "aaaabbbb", .pid = 500, .uid = 1001});
  return view;
}

}  // namespace tidemark::viewer
