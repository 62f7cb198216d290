#include "simulator/cuda/driver/pools.hpp"

#include <algorithm>

namespace cuda_sim {
namespace {

// No address; the low bits number the device.
constexpr std::uintptr_t kPoolHandle = 0x5D60'0000'0000'0001;

}  // namespace

Pools::Pools(sim::Machine& machine, const std::vector<int>& devices)
    : machine_(machine), devices_(devices), pools_(devices.size()) {}

CUmemoryPool Pools::default_pool(CUdevice device) {
  return reinterpret_cast<CUmemoryPool>(kPoolHandle + static_cast<std::uintptr_t>(device));
}

std::optional<CUdevice> Pools::device_of(CUmemoryPool pool) const {
  const std::uintptr_t index = reinterpret_cast<std::uintptr_t>(pool) - kPoolHandle;
  return index < pools_.size() ? std::optional{static_cast<CUdevice>(index)} : std::nullopt;
}

CUresult Pools::allocate(CUdevice device, std::size_t size, sim::Address& out) {
  collect();
  std::unique_lock lock{mutex_};
  Pool& pool = pools_[static_cast<std::size_t>(device)];
  if (pool.owner == sim::ContextId{}) {
    pool.owner = machine_.create_context(devices_[static_cast<std::size_t>(device)]);
  }
  if (machine_.allocate(pool.owner, size, out) != sim::Status::Ok) {
    lock.unlock();
    drain();
    lock.lock();
    if (machine_.allocate(pool.owner, size, out) != sim::Status::Ok) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  blocks_[out] = {device, size};
  pool.usage.used += size;
  pool.usage.highest = std::max(pool.usage.highest, pool.usage.used);
  return CUDA_SUCCESS;
}

CUresult Pools::free_in_order(const Stream& stream, sim::Address base) {
  collect();
  std::lock_guard lock{mutex_};
  const sim::Place place = machine_.place(base);
  if (!place.live || place.allocation.base != base || place.allocation.foreign || being_freed_.contains(base)) {
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

void Pools::give_back(sim::Address base) {
  if (const auto block = blocks_.find(base); block != blocks_.end()) {
    pools_[static_cast<std::size_t>(block->second.device)].usage.used -= block->second.size;
    blocks_.erase(block);
  }
  machine_.release(base);
}

void Pools::forget(sim::Address base) {
  std::lock_guard lock{mutex_};
  if (const auto block = blocks_.find(base); block != blocks_.end()) {
    pools_[static_cast<std::size_t>(block->second.device)].usage.used -= block->second.size;
    blocks_.erase(block);
  }
}

bool Pools::owns(sim::Address base) const {
  std::lock_guard lock{mutex_};
  return blocks_.contains(base);
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

Pools::Usage Pools::usage(CUdevice device) const {
  std::lock_guard lock{mutex_};
  return pools_[static_cast<std::size_t>(device)].usage;
}

void Pools::reset_highest(CUdevice device) {
  std::lock_guard lock{mutex_};
  Usage& usage = pools_[static_cast<std::size_t>(device)].usage;
  usage.highest = usage.used;
}

std::uint64_t Pools::release_threshold(CUdevice device) const {
  std::lock_guard lock{mutex_};
  return pools_[static_cast<std::size_t>(device)].release_threshold;
}

void Pools::set_release_threshold(CUdevice device, std::uint64_t bytes) {
  std::lock_guard lock{mutex_};
  pools_[static_cast<std::size_t>(device)].release_threshold = bytes;
}

}  // namespace cuda_sim
