#include "viewer/model/memory_events.hpp"

#include "shared/base/device_basis.hpp"
#include "shared/base/size_text.hpp"

#include <charconv>
#include <cmath>

namespace tidemark::viewer {
namespace {

std::optional<std::uint64_t> if_known(std::uint64_t bytes, bool is_known) {
  return is_known ? std::optional{bytes} : std::nullopt;
}

MemoryEvent event_of(EventKind kind, const ProcessView& process, const DeviceView& device) {
  MemoryEvent event;
  event.kind = kind;
  event.pid = process.pid();
  event.id = process.id();
  event.label = process.snapshot.identity.label;
  event.title = process.title();
  event.device = device.name;
  return event;
}

}  // namespace

std::string_view to_text(EventKind kind) { return kind == EventKind::OutOfMemory ? "oom" : "above"; }

std::optional<Threshold> Threshold::parse(std::string_view text) {
  if (!text.ends_with('%')) {
    const auto size = parse_size(text);
    return size && size->count() > 0 ? std::optional{Threshold{.bytes = size->count(), .percent = 0}} : std::nullopt;
  }
  text.remove_suffix(1);
  double percent = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool is_percent = failure == std::errc{} && end == text.data() + text.size() && percent > 0 && percent <= 100;
  return is_percent ? std::optional{Threshold{.bytes = std::nullopt, .percent = percent}} : std::nullopt;
}

std::optional<std::uint64_t> Threshold::bytes_for(const DeviceView& device) const {
  if (bytes) {
    return bytes;
  }
  const auto whole = device.figures.limit ? device.figures.limit : device.figures.capacity;
  return whole ? std::optional{static_cast<std::uint64_t>(std::llround(static_cast<double>(*whole) * percent / 100))}
               : std::nullopt;
}

std::vector<MemoryEvent> MemoryEvents::look(const View& view) {
  std::vector<MemoryEvent> events;
  for (auto& [key, seen] : seen_) {
    seen.is_there = false;
  }
  for (const ProcessView& process : view.processes) {
    for (const DeviceView& device : process.devices) {
      look_at(process, device, view.time_ns, events);
    }
  }
  std::erase_if(seen_, [](const auto& entry) { return !entry.second.is_there; });
  is_first_ = false;
  return events;
}

void MemoryEvents::look_at(const ProcessView& process, const DeviceView& device, std::uint64_t now_ns,
                           std::vector<MemoryEvent>& events) {
  const DeviceBasis& basis = device.snapshot.basis;
  const std::uint64_t ooms = basis[BasisWord::oom_count_lifetime];
  const auto [entry, is_new] = seen_.try_emplace({process.id(), device.name});
  Seen& seen = entry->second;
  seen.is_there = true;
  if (is_new && is_first_) {
    seen.ooms = ooms;
  }
  if (ooms > seen.ooms) {
    MemoryEvent event = event_of(EventKind::OutOfMemory, process, device);
    const bool knows_device = basis[BasisWord::oom_device_total_bytes] != 0;
    event.times = ooms - seen.ooms;
    event.requested_bytes = basis[BasisWord::oom_requested_bytes];
    event.allocated_bytes = basis[BasisWord::oom_allocated_bytes];
    event.reserved_bytes = basis[BasisWord::oom_reserved_bytes];
    event.held_bytes = basis[BasisWord::oom_held_bytes];
    event.free_bytes = if_known(basis[BasisWord::oom_device_free_bytes], knows_device);
    event.total_bytes = if_known(basis[BasisWord::oom_device_total_bytes], knows_device);
    event.time_ns = basis[BasisWord::oom_time_ns];
    events.push_back(std::move(event));
    seen.ooms = ooms;
  }
  const auto threshold = above_ && process.is_alive() ? above_->bytes_for(device) : std::nullopt;
  if (!threshold) {
    return;
  }
  const std::uint64_t held = device.figures.held;
  if (held > *threshold && !seen.is_above) {
    MemoryEvent event = event_of(EventKind::Above, process, device);
    const bool knows_device = basis[BasisWord::driver_total_bytes] != 0;
    event.allocated_bytes = device.figures.allocated;
    event.reserved_bytes = device.figures.reserved;
    event.held_bytes = held;
    event.free_bytes = if_known(basis[BasisWord::driver_free_bytes], knows_device);
    event.total_bytes = if_known(basis[BasisWord::driver_total_bytes], knows_device);
    event.time_ns = now_ns;
    events.push_back(std::move(event));
    seen.is_above = true;
  } else if (held <= *threshold - *threshold / 20) {
    seen.is_above = false;
  }
}

}  // namespace tidemark::viewer
