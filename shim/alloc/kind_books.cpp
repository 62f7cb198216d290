#include "shim/alloc/kind_books.hpp"

#include <algorithm>

namespace tidemark::alloc {

KindCount& KindBooks::count_of(std::uint32_t place, std::uint8_t kind) noexcept {
  return place == kHostPlace ? host_.kinds[kind] : devices_[place].kinds[kind];
}

void KindBooks::tell(std::uint32_t place, std::uint8_t kind, std::int64_t change) noexcept {
  if (place == kHostPlace) {
    sink_.host_changed(host_);
  } else {
    sink_.device_changed(place, devices_[place], is_on_device(static_cast<DeviceKind>(kind)) ? change : 0);
  }
}

void KindBooks::count_up(const KindRecord& record, std::uint64_t pieces) noexcept {
  KindCount& count = count_of(record.place, record.kind);
  count.current_bytes += record.size;
  count.current_count += pieces;
  count.total_count += pieces;
  count.peak_bytes = std::max(count.peak_bytes, count.current_bytes);
  tell(record.place, record.kind, static_cast<std::int64_t>(record.size));
}

void KindBooks::count_down(const KindRecord& record, std::uint64_t pieces) noexcept {
  KindCount& count = count_of(record.place, record.kind);
  count.current_bytes -= record.size;
  count.current_count -= pieces;
  tell(record.place, record.kind, -static_cast<std::int64_t>(record.size));
}

// False without host memory.
bool KindBooks::enter(const KindRecord& record) noexcept {
  if (const KindRecord* stale = records_.find(record.space, record.name); stale != nullptr) {
    const KindRecord copy = *stale;
    leave(copy.space, copy.name);
    drop(copy);
  }
  if (!records_.reserve()) {
    return false;
  }
  records_.insert(record);
  count_.store(records_.count(), std::memory_order_release);
  return true;
}

void KindBooks::leave(KindSpace space, std::uint64_t name) noexcept {
  records_.erase(space, name);
  count_.store(records_.count(), std::memory_order_release);
}

// What a record that is out of the map stood for.
void KindBooks::drop(const KindRecord& record) noexcept {
  if (record.space == KindSpace::Handle) {
    let_go(record.link, &Physical::handles);
  } else if (record.space == KindSpace::Mapping) {
    let_go(record.link, &Physical::mappings);
  } else {
    count_down(record);
  }
}

void KindBooks::add(const KindRecord& record) noexcept {
  const DeviceLockGuard guard{lock_};
  if (enter(record)) {
    count_up(record);
  }
}

void KindBooks::open(const KindRecord& record) noexcept {
  const DeviceLockGuard guard{lock_};
  if (KindRecord* known = records_.find(record.space, record.name);
      known != nullptr && known->kind == record.kind && known->context == record.context) {
    ++known->opens;
  } else if (enter(record)) {
    count_up(record);
  }
}

std::optional<KindRecord> KindBooks::take(KindSpace space, std::uint64_t name) noexcept {
  const DeviceLockGuard guard{lock_};
  KindRecord* const known = records_.find(space, name);
  if (known == nullptr) {
    return std::nullopt;
  }
  const KindRecord record = *known;
  if (known->opens > 1) {
    --known->opens;
    return record;
  }
  leave(space, name);
  if (space != KindSpace::Handle) {  // whose memory may outlive it: settle() looks
    drop(record);
  }
  return record;
}

void KindBooks::settle(const KindRecord& taken) noexcept {
  if (taken.space == KindSpace::Handle && taken.opens == 1) {
    const DeviceLockGuard guard{lock_};
    drop(taken);
  }
}

void KindBooks::put_back(const KindRecord& taken) noexcept {
  const DeviceLockGuard guard{lock_};
  if (KindRecord* known = records_.find(taken.space, taken.name); known != nullptr && taken.opens > 1) {
    ++known->opens;
    return;
  }
  // The last one, by now, whatever it was when it was taken. Of a handle taken before the last its memory may be gone.
  KindRecord record = taken;
  record.opens = 1;
  if ((taken.space != KindSpace::Handle || taken.opens == 1) && enter(record) && taken.space != KindSpace::Handle) {
    --count_of(record.place, record.kind).total_count;  // it is not one more
    count_up(record);
  }
}

void KindBooks::end_context(ContextId context) noexcept {
  if (is_empty()) {
    return;
  }
  const DeviceLockGuard guard{lock_};
  records_.erase_if([&](const KindRecord& record) {
    const bool ends = record.context == static_cast<std::uint64_t>(context) && record.context != 0;
    if (ends) {
      drop(record);
    }
    return ends;
  });
  count_.store(records_.count(), std::memory_order_release);
}

KindRecord KindBooks::counted(const Physical& memory) const noexcept {
  return {.size = memory.size, .place = memory.place, .kind = memory.kind};
}

void KindBooks::let_go(std::uint32_t physical, std::uint32_t Physical::*references) noexcept {
  Physical& memory = physical_[physical];
  --(memory.*references);
  if (memory.handles == 0 && memory.mappings == 0) {
    count_down(counted(memory));
    physical_.give(physical);
  }
}

void KindBooks::create(std::uint64_t handle, const KindRecord& what) noexcept {
  const DeviceLockGuard guard{lock_};
  create_anew(handle, what);
}

void KindBooks::import_handle(std::uint64_t handle, const KindRecord& what) noexcept {
  const DeviceLockGuard guard{lock_};
  if (KindRecord* known = records_.find(KindSpace::Handle, handle); known != nullptr) {
    ++known->opens;
  } else {
    create_anew(handle, what);
  }
}

void KindBooks::create_anew(std::uint64_t handle, const KindRecord& what) noexcept {
  if (!physical_.reserve(1)) {
    return;
  }
  const std::uint32_t index = physical_.take();
  physical_[index] = {.size = what.size,
                      .handles = 1,
                      .mappings = 0,
                      .place = what.place,
                      .next_free = 0,
                      .kind = what.kind,
                      .grows = what.size == 0};
  KindRecord record = what;
  record.space = KindSpace::Handle;
  record.name = handle;
  record.link = index;
  if (enter(record)) {
    count_up(counted(physical_[index]));
  } else {
    physical_.give(index);
  }
}

void KindBooks::retain(std::uint64_t handle, std::uint64_t mapped_address) noexcept {
  const DeviceLockGuard guard{lock_};
  if (KindRecord* known = records_.find(KindSpace::Handle, handle); known != nullptr) {
    ++known->opens;
    return;
  }
  KindRecord record;
  records_.find_if([&](const KindRecord& mapping) {
    const bool is_inside = mapping.space == KindSpace::Mapping && mapped_address - mapping.name < mapping.size;
    if (is_inside) {
      record = mapping;
    }
    return is_inside;
  });
  if (record.space == KindSpace::None) {
    return;
  }
  record.space = KindSpace::Handle;
  record.name = handle;
  if (enter(record)) {
    ++physical_[record.link].handles;
  }
}

void KindBooks::map(std::uint64_t address, std::uint64_t size, std::uint64_t offset, std::uint64_t handle) noexcept {
  const DeviceLockGuard guard{lock_};
  const KindRecord* const known = records_.find(KindSpace::Handle, handle);
  if (known == nullptr) {
    return;
  }
  KindRecord mapping = *known;
  mapping.space = KindSpace::Mapping;
  mapping.name = address;
  mapping.size = size;
  mapping.opens = 1;
  if (!enter(mapping)) {
    return;
  }
  Physical& memory = physical_[mapping.link];
  ++memory.mappings;
  if (memory.grows && offset + size > memory.size) {
    KindRecord more = counted(memory);
    more.size = offset + size - memory.size;
    memory.size += more.size;
    count_up(more, 0);
  }
}

void KindBooks::unmap(std::uint64_t address, std::uint64_t size) noexcept {
  const DeviceLockGuard guard{lock_};
  // Most programs unmap what they mapped, piece by piece: no need to look at all of them.
  if (const KindRecord* known = records_.find(KindSpace::Mapping, address); known != nullptr && known->size == size) {
    const KindRecord mapping = *known;
    leave(mapping.space, mapping.name);
    drop(mapping);
    return;
  }
  records_.erase_if([&](const KindRecord& record) {
    const bool ends = record.space == KindSpace::Mapping && record.name - address < size;
    if (ends) {
      drop(record);
    }
    return ends;
  });
  count_.store(records_.count(), std::memory_order_release);
}

void KindBooks::reset_peaks(std::uint32_t place) noexcept {
  const DeviceLockGuard guard{lock_};
  const auto reset = [](auto& counts) {
    for (KindCount& count : counts.kinds) {
      count.peak_bytes = count.current_bytes;
    }
  };
  place == kHostPlace ? reset(host_) : reset(devices_[place]);
  tell(place, 0, 0);
}

void KindBooks::publish(std::uint32_t place) noexcept {
  const DeviceLockGuard guard{lock_};
  tell(place, 0, 0);
}

DeviceKindCounts KindBooks::device(std::uint32_t place) noexcept {
  const DeviceLockGuard guard{lock_};
  return devices_[place];
}

HostKindCounts KindBooks::host() noexcept {
  const DeviceLockGuard guard{lock_};
  return host_;
}

}  // namespace tidemark::alloc
