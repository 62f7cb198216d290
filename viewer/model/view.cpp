#include "viewer/model/view.hpp"

#include "shared/segment/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::viewer {
namespace {

// The key is one of the fixed list, so it is there.
std::uint64_t stat(const DeviceBasis& basis, std::string_view key) {
  return static_cast<std::uint64_t>(segment::stat_value(basis, *segment::find_stat(key)));
}

std::optional<std::uint64_t> unless_zero(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional{value};
}

std::optional<double> hit_percent(const segment::CacheNumbers& cache) {
  const auto all = static_cast<double>(cache.hits + cache.misses + cache.passed_through);
  return all > 0 ? std::optional{100.0 * static_cast<double>(cache.hits) / all} : std::nullopt;
}

std::string uuid_text(segment::Backend backend, const std::array<std::uint8_t, 16>& uuid) {
  std::string text = backend == segment::Backend::Cuda ? "GPU-" : backend == segment::Backend::Mtia ? "MTIA-" : "";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    text += (i == 4 || i == 6 || i == 8 || i == 10) ? "-" : "";
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

}  // namespace

Figures figures_of(const segment::DeviceSnapshot& device) {
  using segment::ExtraKey;
  const DeviceBasis& basis = device.basis;
  const segment::CacheNumbers cache = segment::cache_numbers(basis);
  const auto extra = [&](ExtraKey key) { return static_cast<std::uint64_t>(segment::extra_value(basis, key)); };
  return {.requested = stat(basis, "requested_bytes.all.current"),
          .allocated = stat(basis, "allocated_bytes.all.current"),
          .allocated_peak = stat(basis, "allocated_bytes.all.peak"),
          .pending = static_cast<std::uint64_t>(cache.pending_free_bytes),
          .cached = static_cast<std::uint64_t>(cache.cached_bytes),
          .reserved = stat(basis, "reserved_bytes.all.current"),
          .reserved_peak = stat(basis, "reserved_bytes.all.peak"),
          .held = extra(ExtraKey::HeldCurrentBytes),
          .held_peak = extra(ExtraKey::HeldPeakBytes),
          .retries = stat(basis, "num_alloc_retries"),
          .ooms = stat(basis, "num_ooms"),
          .hit_percent = hit_percent(cache),
          .capacity = unless_zero(device.info.capacity_bytes),
          .limit = unless_zero(basis[BasisWord::limit_bytes])};
}

std::string ProcessView::title() const {
  const auto& identity = snapshot.identity;
  const std::string& command = identity.command.empty() ? identity.executable : identity.command;
  return identity.label.empty() ? command : fmt::format("{}: {}", identity.label, command);
}

std::uint64_t ProcessView::started_ns() const {
  const auto& identity = snapshot.identity;
  if (identity.ticks_per_second == 0) {
    return identity.create_realtime_ns;
  }
  // The kernel counts a start in ticks since boot; the segment's own creation is known on both clocks.
  const std::uint64_t seconds = identity.start_ticks / identity.ticks_per_second;
  const std::uint64_t rest = identity.start_ticks % identity.ticks_per_second;
  const std::uint64_t start = seconds * 1'000'000'000U + rest * 1'000'000'000U / identity.ticks_per_second;
  const std::uint64_t before_creation = identity.create_boottime_ns - start;
  return start > identity.create_boottime_ns || before_creation > identity.create_realtime_ns
             ? identity.create_realtime_ns
             : identity.create_realtime_ns - before_creation;
}

ProcessView view_of(segment::ProcessSnapshot snapshot) {
  ProcessView view;
  for (const segment::DeviceSnapshot& device : snapshot.devices) {
    const std::uint64_t reset = device.basis[BasisWord::peak_reset_time_ns];
    view.devices.push_back({.snapshot = device,
                            .name = fmt::format("{}:{}", to_text(device.info.backend), device.info.ordinal),
                            .uuid = uuid_text(device.info.backend, device.info.uuid),
                            .figures = figures_of(device),
                            .peak_since_ns = reset != 0 ? reset : snapshot.identity.create_realtime_ns});
  }
  view.snapshot = std::move(snapshot);
  return view;
}

std::optional<std::uint64_t> NodeDevice::not_ours() const {
  return used && *used >= held ? std::optional{*used - held} : std::nullopt;
}

std::vector<NodeDevice> node_devices(const View& view) {
  std::vector<NodeDevice> devices;
  for (const ProcessView& process : view.processes) {
    for (const DeviceView& device : process.devices) {
      auto found = std::find_if(devices.begin(), devices.end(),
                                [&](const NodeDevice& known) { return known.uuid == device.uuid; });
      if (found == devices.end()) {
        const segment::DeviceInfo& info = device.snapshot.info;
        devices.push_back({.uuid = device.uuid,
                           .name = std::string{info.name.view()},
                           .ordinal = device.name,
                           .pci_bus_id = std::string{info.pci_bus_id.view()},
                           .simulated = info.simulated,
                           .capacity = info.capacity_bytes});
        found = devices.end() - 1;
      }
      if (found->ordinal != device.name) {
        found->ordinal.clear();
      }
      if (!process.is_alive()) {
        continue;  // the driver took its memory back
      }
      found->held += device.figures.held;
      found->cached += device.figures.cached;
      const DeviceBasis& basis = device.snapshot.basis;
      const std::uint64_t total = basis[BasisWord::driver_total_bytes];
      const std::uint64_t free = basis[BasisWord::driver_free_bytes];
      if (basis[BasisWord::driver_info_time_ns] > found->used_time_ns && free <= total) {
        found->used = total - free;
        found->used_time_ns = basis[BasisWord::driver_info_time_ns];
      }
    }
  }
  return devices;
}

}  // namespace tidemark::viewer
