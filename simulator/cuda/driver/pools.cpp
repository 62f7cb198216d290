#include "simulator/cuda/driver/pools.hpp"

#include <algorithm>

#include "simulator/cuda/driver/physical_memory.hpp"

namespace cuda_sim {
namespace {

// No address; the default pools come first.
constexpr std::uintptr_t kPoolHandle = 0x5D60'0000'0000'0001;

CUmemoryPool to_handle(std::uintptr_t number) { return reinterpret_cast<CUmemoryPool>(number); }

std::size_t units_of(std::size_t size) { return (size + kGranularity - 1) / kGranularity * kGranularity; }

}  // namespace

Pools::Pools(sim::Machine& machine, const std::vector<int>& devices, GraphMemory& graphs)
    : machine_(machine), devices_(devices), graphs_(graphs), last_handle_(kPoolHandle + devices.size()) {
  for (CUdevice device = 0; device < static_cast<CUdevice>(devices.size()); ++device) {
    pools_[default_pool(device)].device = device;
    current_.push_back(default_pool(device));
  }
}

CUmemoryPool Pools::default_pool(CUdevice device) const {
  return to_handle(kPoolHandle + static_cast<std::uintptr_t>(device));
}

CUmemoryPool Pools::current_pool(CUdevice device) const {
  std::lock_guard lock{mutex_};
  return current_[static_cast<std::size_t>(device)];
}

CUresult Pools::set_current(CUdevice device, CUmemoryPool pool) {
  std::lock_guard lock{mutex_};
  const auto found = pools_.find(pool);
  if (found == pools_.end() || found->second.is_destroyed || found->second.device != device ||
      found->second.is_imported) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  current_[static_cast<std::size_t>(device)] = pool;
  return CUDA_SUCCESS;
}

std::optional<Pools::Pool> Pools::find(CUmemoryPool pool) const {
  std::lock_guard lock{mutex_};
  const auto found = pools_.find(pool);
  return found != pools_.end() && !found->second.is_destroyed ? std::optional{found->second} : std::nullopt;
}

CUmemoryPool Pools::create(const Pool& pool) {
  std::lock_guard lock{mutex_};
  const CUmemoryPool handle = to_handle(++last_handle_);
  pools_.emplace(handle, pool);
  return handle;
}

CUresult Pools::destroy(CUmemoryPool pool) {
  std::lock_guard lock{mutex_};
  const auto found = pools_.find(pool);
  if (found == pools_.end() || found->second.is_destroyed || pool == default_pool(found->second.device)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  found->second.is_destroyed = true;
  if (found->second.device == kOnTheHost) {
    return CUDA_SUCCESS;
  }
  CUmemoryPool& current = current_[static_cast<std::size_t>(found->second.device)];
  if (current == pool) {
    current = default_pool(found->second.device);
  }
  return CUDA_SUCCESS;
}

void Pools::set_access(CUmemoryPool pool, CUdevice device, CUmemAccess_flags flags) {
  std::lock_guard lock{mutex_};
  pools_.at(pool).access[device] = flags;
}

// As mapped memory is, though without a handle by which the program could unmap it.
bool Pools::map_on_host(std::size_t size, sim::Address& out) {
  sim::VirtualMemory& memory = machine_.virtual_memory();
  sim::Address base = 0;
  auto bytes = sim::SharedBytes::make(units_of(size));
  if (!bytes || memory.reserve(units_of(size), 0, 0, base) != sim::Status::Ok) {
    return false;
  }
  if (memory.map({.base = base, .size = units_of(size), .bytes = std::move(bytes)}) != sim::Status::Ok) {
    memory.free(base, units_of(size));
    return false;
  }
  (void)memory.set_access(base, units_of(size), sim::kTheHost, sim::Access::ReadWrite);
  for (const int device : devices_) {
    (void)memory.set_access(base, units_of(size), device, sim::Access::ReadWrite);
  }
  out = base;
  return true;
}

void Pools::unmap_on_host(std::size_t size, sim::Address base) {
  std::vector<std::uint64_t> none;
  (void)machine_.virtual_memory().unmap(base, units_of(size), none);
  (void)machine_.virtual_memory().free(base, units_of(size));
}

// Requires: mutex_.
bool Pools::take(Pool& pool, std::size_t size, sim::Address& out) {
  if (pool.most != 0 && (size > pool.most || pool.usage.used > pool.most - size)) {
    return false;
  }
  return pool.device == kOnTheHost ? size <= SIZE_MAX - kGranularity && map_on_host(size, out)
                                   : machine_.allocate(pool.owner, size, out) == sim::Status::Ok;
}

CUresult Pools::allocate(CUmemoryPool handle, std::size_t size, sim::Address& out) {
  collect();
  std::unique_lock lock{mutex_};
  const auto found = pools_.find(handle);
  if (found == pools_.end() || found->second.is_destroyed || found->second.is_imported) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Pool& pool = found->second;  // never erased
  if (pool.owner == sim::ContextId{} && pool.device != kOnTheHost) {
    pool.owner = machine_.create_context(devices_[static_cast<std::size_t>(pool.device)]);
  }
  if (!take(pool, size, out)) {
    lock.unlock();
    drain();
    lock.lock();
    if (!take(pool, size, out)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  blocks_[out] = {handle, size};
  pool.usage.used += size;
  pool.usage.highest = std::max(pool.usage.highest, pool.usage.used);
  return CUDA_SUCCESS;
}

CUresult Pools::free_in_order(const Stream& stream, sim::Address base) {
  collect();
  std::lock_guard lock{mutex_};
  const sim::Place place = machine_.place(base);
  const bool is_whole = place.live && place.allocation.base == base && !place.allocation.foreign;
  const bool ours = graphs_.is_live(base) || blocks_.contains(base) || is_whole;
  if (!ours || being_freed_.contains(base)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  sim::EventId done{};
  const sim::ContextId context = machine_.scheduler().context_of(stream.core);
  if (machine_.scheduler().create_event(context, done) != sim::Status::Ok) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  machine_.scheduler().record(done, stream.core);
  being_freed_.emplace(base, done);
  return CUDA_SUCCESS;
}

// Requires: mutex_.
void Pools::give_back(sim::Address base) {
  if (const auto block = blocks_.find(base); block != blocks_.end()) {
    const std::size_t size = block->second.size;
    Pool& pool = pools_.at(block->second.pool);
    pool.usage.used -= size;
    blocks_.erase(block);
    if (pool.device == kOnTheHost) {
      unmap_on_host(size, base);
      return;
    }
  }
  if (!graphs_.end(base)) {
    machine_.release(base);
  }
}

void Pools::free_now(sim::Address base) {
  std::lock_guard lock{mutex_};
  give_back(base);
}

CUmemoryPool Pools::pool_of(sim::Address base) const {
  std::lock_guard lock{mutex_};
  const auto block = blocks_.find(base);
  return block != blocks_.end() ? block->second.pool : nullptr;
}

bool Pools::is_being_freed(sim::Address base) const {
  std::lock_guard lock{mutex_};
  return being_freed_.contains(base);
}

void Pools::collect() {
  std::lock_guard lock{mutex_};
  std::erase_if(being_freed_, [this](const auto& entry) {
    const auto& [base, done] = entry;
    // An event that has gone went with its context, whose work was completed first.
    if (machine_.scheduler().query_event(done) == sim::Status::NotReady) {
      return false;
    }
    machine_.scheduler().destroy_event(done);
    give_back(base);
    return true;
  });
}

void Pools::drain() {
  std::vector<sim::EventId> waiting;
  {
    std::lock_guard lock{mutex_};
    for (const auto& [base, done] : being_freed_) {
      waiting.push_back(done);
    }
  }
  for (const sim::EventId done : waiting) {
    machine_.scheduler().synchronize_event(done);
  }
  collect();
}

void Pools::reset_highest(CUmemoryPool pool) {
  std::lock_guard lock{mutex_};
  Usage& usage = pools_.at(pool).usage;
  usage.highest = usage.used;
}

void Pools::set_release_threshold(CUmemoryPool pool, std::uint64_t bytes) {
  std::lock_guard lock{mutex_};
  pools_.at(pool).release_threshold = bytes;
}

}  // namespace cuda_sim
