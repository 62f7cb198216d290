#include "simulator/core/virtual_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sim {
namespace {

constexpr std::uint64_t kUsualAlignment = std::uint64_t{2} << 20;
constexpr std::uint64_t kMost = std::uint64_t{1} << 46;
constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* as_pointer(Address address) { return reinterpret_cast<void*>(address); }

Address map_nothing(Address at, std::uint64_t size, int more_flags) {
  void* raw = mmap(as_pointer(at), size, PROT_NONE, kReserved | more_flags, -1, 0);
  return raw != MAP_FAILED ? reinterpret_cast<Address>(raw) : 0;
}

// The addresses stay taken, the bytes go.
void forget_bytes(Address at, std::uint64_t size) { map_nothing(at, size, MAP_FIXED); }

bool permits(const Mapping& mapping, int who, Access wanted) {
  const auto found = mapping.access.find(who);
  return found != mapping.access.end() &&
         (static_cast<int>(found->second) & static_cast<int>(wanted)) == static_cast<int>(wanted);
}

}  // namespace

VirtualMemory::~VirtualMemory() {
  for (const auto& [base, size] : reservations_) munmap(as_pointer(base), 2 * size);
}

VirtualMemory::Reservations::const_iterator VirtualMemory::around(Address address) const {
  const auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return reservations_.end();
  const auto range = std::prev(after);
  return address - range->first < range->second ? range : reservations_.end();
}

VirtualMemory::Mappings::const_iterator VirtualMemory::mapping_around(Address address) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return mappings_.end();
  const auto mapping = std::prev(after);
  return address - mapping->first < mapping->second.size ? mapping : mappings_.end();
}

Status VirtualMemory::reserve(std::uint64_t size, std::uint64_t alignment, Address wanted, Address& out) {
  const std::uint64_t step = std::max(alignment, kUsualAlignment);
  if (size > kMost || step > kMost) return Status::OutOfMemory;
  const std::lock_guard lock{mutex_};
  Address base = wanted != 0 && wanted % step == 0 ? map_nothing(wanted, 2 * size, MAP_FIXED_NOREPLACE) : 0;
  if (base == 0) {
    const std::uint64_t mapped = 2 * size + step;
    const Address start = map_nothing(0, mapped, 0);
    if (start == 0) return Status::OutOfMemory;
    base = (start + step - 1) / step * step;
    if (base > start) munmap(as_pointer(start), base - start);
    munmap(as_pointer(base + 2 * size), start + mapped - (base + 2 * size));
  }
  try {
    reservations_.emplace(base, size);
  } catch (...) {
    munmap(as_pointer(base), 2 * size);
    throw;
  }
  reservations_count_.store(reservations_.size(), std::memory_order_release);
  out = base;
  return Status::Ok;
}

Status VirtualMemory::free(Address base, std::uint64_t size) {
  const std::lock_guard lock{mutex_};
  const auto found = reservations_.find(base);
  if (found == reservations_.end() || found->second != size) return Status::InvalidValue;
  const auto mapped = mappings_.lower_bound(base);
  if (mapped != mappings_.end() && mapped->first < base + size) return Status::InvalidValue;
  munmap(as_pointer(base), 2 * size);
  reservations_.erase(found);
  reservations_count_.store(reservations_.size(), std::memory_order_release);
  return Status::Ok;
}

Status VirtualMemory::map(Mapping mapping) {
  const std::lock_guard lock{mutex_};
  const Address base = mapping.base;
  const auto range = around(base);
  if (range == reservations_.end() || mapping.size > range->second - (base - range->first)) return Status::InvalidValue;
  const auto next = mappings_.lower_bound(base);
  if (mapping_around(base) != mappings_.end() || (next != mappings_.end() && next->first < base + mapping.size)) {
    return Status::InvalidValue;
  }
  if (!mapping.bytes->map_at(base + range->second, mapping.size)) return Status::OutOfMemory;
  mapping.serial = ++last_serial_;
  mapping.access.clear();
  mappings_.emplace(base, std::move(mapping));
  return Status::Ok;
}

std::vector<const Mapping*> VirtualMemory::covering(Address base, std::uint64_t size, bool whole) const {
  std::vector<const Mapping*> all;
  const auto range = around(base);
  if (size == 0 || range == reservations_.end() || size > range->second - (base - range->first)) return {};
  const Address end = base + size;
  auto at = mapping_around(base);
  if (at == mappings_.end() || (whole && at->first != base)) return {};
  for (Address reached = base; reached < end; ++at) {
    if (at == mappings_.end() || (reached != base && at->first != reached)) return {};
    all.push_back(&at->second);
    reached = at->first + at->second.size;
    if (whole && reached > end) return {};
  }
  return all;
}

Status VirtualMemory::unmap(Address base, std::uint64_t size, std::vector<std::uint64_t>& gone) {
  const std::lock_guard lock{mutex_};
  const std::vector<const Mapping*> all = covering(base, size, true);
  if (all.empty()) return Status::InvalidValue;
  for (const Mapping* mapping : all) gone.push_back(mapping->handle);
  forget_bytes(base + around(base)->second, size);
  forget_bytes(base, size);  // where the host had been let in
  mappings_.erase(mappings_.lower_bound(base), mappings_.lower_bound(base + size));
  return Status::Ok;
}

Status VirtualMemory::set_access(Address base, std::uint64_t size, int who, Access access) {
  const std::lock_guard lock{mutex_};
  const std::vector<const Mapping*> all = covering(base, size, true);
  if (all.empty()) return Status::InvalidValue;
  if (who == kTheHost && std::any_of(all.begin(), all.end(), [](const Mapping* m) { return m->device != kTheHost; })) {
    return Status::InvalidValue;
  }
  for (const Mapping* found : all) {
    Mapping& mapping = mappings_.at(found->base);
    mapping.access[who] = access;
    if (who != kTheHost) continue;
    if (access == Access::None) {
      forget_bytes(mapping.base, mapping.size);
    } else if (!mapping.bytes->map_at(mapping.base, mapping.size)) {
      return Status::OutOfMemory;
    } else if (access == Access::Read) {
      mprotect(as_pointer(mapping.base), mapping.size, PROT_READ);
    }
  }
  return Status::Ok;
}

bool VirtualMemory::contains(Address address) const {
  if (!is_used()) return false;
  const std::lock_guard lock{mutex_};
  return contains_held(address);
}

std::optional<Mapping> VirtualMemory::find(Address address) const {
  if (!is_used()) return std::nullopt;
  const std::lock_guard lock{mutex_};
  const auto found = mapping_around(address);
  return found != mappings_.end() ? std::optional{found->second} : std::nullopt;
}

bool VirtualMemory::allows(Address address, std::uint64_t size, int device, Access access) const {
  const std::lock_guard lock{mutex_};
  const std::vector<const Mapping*> all = covering(address, size, false);
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](const Mapping* mapping) {
    return permits(*mapping, device, access) || permits(*mapping, mapping->device, access);
  });
}

std::byte* VirtualMemory::bytes_at(Address address, std::uint64_t size) const {
  if (covering(address, size, false).empty()) return nullptr;
  return static_cast<std::byte*>(as_pointer(address + around(address)->second));
}

}  // namespace sim
