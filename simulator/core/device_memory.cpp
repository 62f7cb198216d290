#include "simulator/core/device_memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "simulator/core/shared_capacity.hpp"

namespace sim {
namespace {

constexpr std::uint64_t kPoisonedEnd = std::uint64_t{64} << 10;
constexpr std::uint64_t kBounce = std::uint64_t{1} << 20;

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity, SharedCapacity* shared, int index, bool exportable)
    : capacity_(capacity), shared_(shared), index_(index), space_(exportable) {}

DeviceMemory::~DeviceMemory() {
  if (shared_ != nullptr) shared_->discharge(index_, used_);
}

Status DeviceMemory::allocate(ContextId owner, std::uint64_t size, Address& out) {
  const std::lock_guard lock{mutex_};
  if (size > capacity_) return Status::OutOfMemory;
  const std::uint64_t charged = (size + kAllocationUnit - 1) / kAllocationUnit * kAllocationUnit;
  if (charged > capacity_ - used_) return Status::OutOfMemory;
  if (shared_ != nullptr && !shared_->charge(index_, charged, capacity_)) return Status::OutOfMemory;

  std::optional<Address> base;
  try {
    base = space_.take(charged);
    if (base) {
      const Allocation allocation{.base = *base, .size = size, .owner = owner, .serial = ++last_serial_};
      blocks_.emplace(*base, Block{.allocation = allocation, .charged = charged});
    }
  } catch (...) {
    if (base) space_.give_back(*base, charged);
    if (shared_ != nullptr) shared_->discharge(index_, charged);
    throw;
  }
  if (!base) {
    if (shared_ != nullptr) shared_->discharge(index_, charged);
    return Status::OutOfMemory;
  }
  used_ += charged;
  out = *base;
  return Status::Ok;
}

Status DeviceMemory::release(Address base, bool used_by_work) {
  const std::lock_guard lock{mutex_};
  const auto block = blocks_.find(base);
  if (block == blocks_.end() || block->second.allocation.foreign) return Status::InvalidValue;
  drop(block, used_by_work);
  return Status::Ok;
}

Status DeviceMemory::charge(std::uint64_t size) {
  const std::lock_guard lock{mutex_};
  if (size > capacity_ - std::min(used_, capacity_)) return Status::OutOfMemory;
  if (shared_ != nullptr && !shared_->charge(index_, size, capacity_)) return Status::OutOfMemory;
  used_ += size;
  return Status::Ok;
}

void DeviceMemory::discharge(std::uint64_t size) {
  const std::lock_guard lock{mutex_};
  used_ -= size;
  if (shared_ != nullptr) shared_->discharge(index_, size);
}

std::size_t DeviceMemory::release_all_of(ContextId owner) {
  const std::lock_guard lock{mutex_};
  std::size_t released = 0;
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto here = block++;
    if (here->second.allocation.owner != owner) continue;
    drop(here, false);
    ++released;
  }
  return released;
}

void DeviceMemory::drop(Blocks::iterator block, bool used_by_work) {
  const Block gone = block->second;
  blocks_.erase(block);
  if (gone.allocation.foreign) {
    space_.give_back_foreign(gone.allocation.base);
    return;
  }
  if (gone.written || used_by_work) poison(gone, used_by_work);
  space_.give_back(gone.allocation.base, gone.charged);
  used_ -= gone.charged;
  if (shared_ != nullptr) shared_->discharge(index_, gone.charged);
}

void DeviceMemory::poison(const Block& block, bool wholly) {
  const Address base = block.allocation.base;
  const std::uint64_t size = block.charged;
  if (wholly || size <= 2 * kPoisonedEnd) {
    std::memset(space_.shadow_of(base), static_cast<int>(kPoison), size);
    return;
  }
  std::memset(space_.shadow_of(base), static_cast<int>(kPoison), kPoisonedEnd);
  std::memset(space_.shadow_of(base + size - kPoisonedEnd), static_cast<int>(kPoison), kPoisonedEnd);
  space_.forget_contents(base + kPoisonedEnd, size - 2 * kPoisonedEnd);
}

std::optional<FileRange> DeviceMemory::export_range(Address address) const {
  const std::lock_guard lock{mutex_};
  const Block* block = covering(address, 1);
  if (block == nullptr || block->allocation.foreign) return std::nullopt;
  return space_.find_in_file(block->allocation.base);
}

Status DeviceMemory::open_foreign(ContextId owner, int fd, std::uint64_t offset, std::uint64_t size, Address& out) {
  const std::lock_guard lock{mutex_};
  const std::optional<Address> base = space_.take_foreign(fd, offset, size);
  if (!base) return Status::OutOfMemory;
  try {
    const Allocation allocation{.base = *base, .size = size, .owner = owner, .serial = ++last_serial_, .foreign = true};
    blocks_.emplace(*base, Block{.allocation = allocation, .charged = 0});
  } catch (...) {
    space_.give_back_foreign(*base);
    throw;
  }
  out = *base;
  return Status::Ok;
}

Status DeviceMemory::close_foreign(Address base) {
  const std::lock_guard lock{mutex_};
  const auto block = blocks_.find(base);
  if (block == blocks_.end() || !block->second.allocation.foreign) return Status::InvalidValue;
  drop(block, false);
  return Status::Ok;
}

MemoryInfo DeviceMemory::info() const {
  const std::lock_guard lock{mutex_};
  const std::uint64_t used = shared_ != nullptr && shared_->is_joined() ? shared_->used(index_) : used_;
  return {.free = capacity_ - std::min(used, capacity_), .total = capacity_};
}

std::uint64_t DeviceMemory::used() const {
  const std::lock_guard lock{mutex_};
  return used_;
}

std::optional<Allocation> DeviceMemory::find(Address address) const {
  const std::lock_guard lock{mutex_};
  const Block* block = covering(address, 1);
  return block != nullptr ? std::optional{block->allocation} : std::nullopt;
}

bool DeviceMemory::contains(Address address) const {
  const std::lock_guard lock{mutex_};
  return space_.contains(address);
}

Status DeviceMemory::check(Address address, std::uint64_t size) const {
  const std::lock_guard lock{mutex_};
  return covering(address, size) != nullptr ? Status::Ok : Status::InvalidValue;
}

Status DeviceMemory::write(Address to, std::span<const std::byte> from) {
  const std::lock_guard lock{mutex_};
  Block* block = covering(to, from.size());
  if (block == nullptr) return Status::InvalidValue;
  block->written = true;
  std::memcpy(space_.shadow_of(to), from.data(), from.size());
  return Status::Ok;
}

Status DeviceMemory::read(Address from, std::span<std::byte> to) const {
  const std::lock_guard lock{mutex_};
  if (covering(from, to.size()) == nullptr) return Status::InvalidValue;
  std::memcpy(to.data(), space_.shadow_of(from), to.size());
  return Status::Ok;
}

Status DeviceMemory::fill(Address to, std::span<const std::byte> pattern, std::uint64_t size) {
  const std::lock_guard lock{mutex_};
  Block* block = covering(to, size);
  if (block == nullptr) return Status::InvalidValue;
  block->written = true;
  std::byte* bytes = space_.shadow_of(to);
  if (std::all_of(pattern.begin(), pattern.end(), [&](std::byte b) { return b == pattern.front(); })) {
    std::memset(bytes, static_cast<int>(pattern.front()), size);
    return Status::Ok;
  }
  for (std::uint64_t at = 0; at < size; at += pattern.size()) std::memcpy(bytes + at, pattern.data(), pattern.size());
  return Status::Ok;
}

Status DeviceMemory::copy(Address to, Address from, std::uint64_t size) {
  const std::lock_guard lock{mutex_};
  Block* block = covering(to, size);
  if (block == nullptr || covering(from, size) == nullptr) return Status::InvalidValue;
  block->written = true;
  std::memmove(space_.shadow_of(to), space_.shadow_of(from), size);
  return Status::Ok;
}

Status DeviceMemory::copy(DeviceMemory& to_device, Address to, const DeviceMemory& from_device, Address from,
                          std::uint64_t size) {
  if (&to_device == &from_device) return to_device.copy(to, from, size);
  std::vector<std::byte> bounce(std::min(size, kBounce));
  for (std::uint64_t done = 0; done < size; done += bounce.size()) {
    const std::span part{bounce.data(), std::min<std::uint64_t>(bounce.size(), size - done)};
    if (auto read = from_device.read(from + done, part); read != Status::Ok) return read;
    if (auto written = to_device.write(to + done, part); written != Status::Ok) return written;
  }
  return Status::Ok;
}

const DeviceMemory::Block* DeviceMemory::covering(Address address, std::uint64_t size) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const Block& block = std::prev(after)->second;
  const std::uint64_t offset = address - block.allocation.base;
  if (offset >= block.allocation.size || size > block.allocation.size - offset) return nullptr;
  return &block;
}

DeviceMemory::Block* DeviceMemory::covering(Address address, std::uint64_t size) {
  return const_cast<Block*>(std::as_const(*this).covering(address, size));
}

}  // namespace sim
