#include "viewer/model/view.hpp"

#include "shared/segment/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::viewer {
namespace {

// The keys are of the fixed list, so they are there. Looked up once: a view may have a thousand devices.
struct FigureKeys {
  segment::StatKey requested = *segment::find_stat("requested_bytes.all.current");
  segment::StatKey allocated = *segment::find_stat("allocated_bytes.all.current");
  segment::StatKey allocated_peak = *segment::find_stat("allocated_bytes.all.peak");
  segment::StatKey split = *segment::find_stat("inactive_split_bytes.all.current");
  segment::StatKey reserved = *segment::find_stat("reserved_bytes.all.current");
  segment::StatKey reserved_peak = *segment::find_stat("reserved_bytes.all.peak");
  segment::StatKey allocations = *segment::find_stat("allocation.all.allocated");
  segment::StatKey retries = *segment::find_stat("num_alloc_retries");
  segment::StatKey ooms = *segment::find_stat("num_ooms");
};

std::optional<std::uint64_t> unless_zero(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional{value};
}

std::optional<double> hit_percent(const segment::CacheNumbers& cache) {
  const auto all = static_cast<double>(cache.hits + cache.misses + cache.passed_through);
  return all > 0 ? std::optional{100.0 * static_cast<double>(cache.hits) / all} : std::nullopt;
}

std::string uuid_text(segment::Backend backend, const std::array<std::uint8_t, 16>& uuid) {
  constexpr std::size_t kLongest = 5 + 36;
  std::string text;
  text.reserve(kLongest);
  text += backend == segment::Backend::Cuda ? "GPU-" : backend == segment::Backend::Mtia ? "MTIA-" : "";
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 15];
  }
  return text;
}

}  // namespace

Figures figures_of(const segment::DeviceSnapshot& device) {
  using segment::ExtraKey;
  static const FigureKeys keys;
  const DeviceBasis& basis = device.basis;
  const segment::CacheNumbers cache = segment::cache_numbers(basis);
  const auto stat = [&](segment::StatKey key) { return static_cast<std::uint64_t>(segment::stat_value(basis, key)); };
  const auto extra = [&](ExtraKey key) { return static_cast<std::uint64_t>(segment::extra_value(basis, key)); };
  return {.requested = stat(keys.requested),
          .allocated = stat(keys.allocated),
          .allocated_peak = stat(keys.allocated_peak),
          .pending = static_cast<std::uint64_t>(cache.pending_free_bytes),
          .cached = static_cast<std::uint64_t>(cache.cached_bytes),
          .split = stat(keys.split),
          .pinned = static_cast<std::uint64_t>(cache.pinned_bytes),
          .reserved = stat(keys.reserved),
          .reserved_peak = stat(keys.reserved_peak),
          .held = extra(ExtraKey::HeldCurrentBytes),
          .held_peak = extra(ExtraKey::HeldPeakBytes),
          .allocations = stat(keys.allocations),
          .retries = stat(keys.retries),
          .ooms = stat(keys.ooms),
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

void read_details(ProcessView& process) {
  if (process.reader != nullptr) {
    process.coverage = process.reader->coverage();
    process.settings = process.reader->settings();
  }
}

ProcessView view_of(segment::ProcessSnapshot snapshot) {
  ProcessView view;
  view.devices.reserve(snapshot.devices.size());
  for (segment::DeviceSnapshot& device : snapshot.devices) {
    const std::uint64_t reset = device.basis[BasisWord::peak_reset_time_ns];
    DeviceView& made = view.devices.emplace_back();
    made.name = fmt::format("{}:{}", to_text(device.info.backend), device.info.ordinal);
    made.uuid = uuid_text(device.info.backend, device.info.uuid);
    made.figures = figures_of(device);
    made.peak_since_ns = reset != 0 ? reset : snapshot.identity.create_realtime_ns;
    made.snapshot = std::move(device);
  }
  snapshot.devices = {};  // they are in the view now; twice would be most of its size
  view.snapshot = std::move(snapshot);
  return view;
}

std::optional<std::uint64_t> NodeDevice::not_ours() const {
  const std::uint64_t ours = held + held_by_left_out;
  return used && *used >= ours ? std::optional{*used - ours} : std::nullopt;
}

const NodeFact* fact_of(const NodeFacts& facts, const DeviceView& device) {
  const segment::DeviceInfo& info = device.snapshot.info;
  if (info.backend != segment::Backend::Cuda || facts.devices.empty()) {
    return nullptr;
  }
  const std::string bus_id = plain_bus_id(info.pci_bus_id.view());
  const auto found = std::find_if(facts.devices.begin(), facts.devices.end(), [&](const NodeFact& fact) {
    // The place alone tells a GPU only where nobody says its uuid, and a simulated device has none.
    return fact.uuid_bytes ? *fact.uuid_bytes == info.uuid
                           : !info.simulated && !bus_id.empty() && fact.pci_bus_id == bus_id;
  });
  return found == facts.devices.end() ? nullptr : &*found;
}

namespace {

NodeDevice& entry_for(std::vector<NodeDevice>& devices, const DeviceView& device) {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const NodeDevice& known) { return known.uuid == device.uuid; });
  if (found != devices.end()) {
    return *found;
  }
  const segment::DeviceInfo& info = device.snapshot.info;
  return devices.emplace_back(NodeDevice{.uuid = device.uuid,
                                         .name = std::string{info.name.view()},
                                         .ordinal = device.name,
                                         .pci_bus_id = plain_bus_id(info.pci_bus_id.view()),
                                         .simulated = info.simulated,
                                         .capacity = info.capacity_bytes});
}

void add_fact(NodeDevice& device, const NodeFact& fact) {
  device.index = fact.index;
  device.pci_bus_id = fact.pci_bus_id.empty() ? device.pci_bus_id : fact.pci_bus_id;
  if (fact.used) {
    device.used = fact.used;
    device.used_source = UsedSource::Nvml;
    device.used_time_ns = fact.time_ns;
  }
}

NodeDevice unused_device(const NodeFact& fact) {
  NodeDevice device{.uuid = fact.uuid,
                    .name = fact.name,
                    .ordinal = {},
                    .pci_bus_id = fact.pci_bus_id,
                    .simulated = fact.name.find("simulated") != std::string::npos,
                    .capacity = fact.capacity.value_or(0)};
  add_fact(device, fact);
  return device;
}

void add_use(NodeDevice& device, const DeviceView& use) {
  device.held += use.figures.held;
  device.cached += use.figures.cached;
  const DeviceBasis& basis = use.snapshot.basis;
  const std::uint64_t total = basis[BasisWord::driver_total_bytes];
  const std::uint64_t free = basis[BasisWord::driver_free_bytes];
  if (basis[BasisWord::driver_info_time_ns] > device.used_time_ns && free <= total) {
    device.used = total - free;
    device.used_source = UsedSource::Program;
    device.used_time_ns = basis[BasisWord::driver_info_time_ns];
  }
}

}  // namespace

std::vector<NodeDevice> node_devices(const View& view) {
  std::vector<NodeDevice> devices;
  std::vector<const NodeFact*> met;
  for (const ProcessView& process : view.processes) {
    for (const DeviceView& device : process.devices) {
      NodeDevice& entry = entry_for(devices, device);
      if (entry.ordinal != device.name) {
        entry.ordinal.clear();
      }
      if (process.is_alive()) {  // else the driver took its memory back
        add_use(entry, device);
      }
    }
  }
  for (const ProcessView& process : view.processes) {
    for (const DeviceView& device : process.devices) {
      const NodeFact* const fact = fact_of(view.node, device);
      if (fact != nullptr && std::find(met.begin(), met.end(), fact) == met.end()) {
        met.push_back(fact);
        add_fact(entry_for(devices, device), *fact);
      }
    }
  }
  for (const NodeDevice& left_out : view.left_out) {
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const NodeDevice& known) { return known.uuid == left_out.uuid; });
    if (found != devices.end()) {
      found->held_by_left_out += left_out.held;
    }
  }
  if (!view.is_choice) {
    for (const NodeFact& fact : view.node.devices) {
      if (fact.from_nvml && std::find(met.begin(), met.end(), &fact) == met.end()) {
        devices.push_back(unused_device(fact));
      }
    }
  }
  return devices;
}

}  // namespace tidemark::viewer
