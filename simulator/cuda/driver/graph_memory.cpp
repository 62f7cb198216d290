#include "simulator/cuda/driver/graph_memory.hpp"

#include <algorithm>

namespace cuda_sim {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t pages_of(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

}  // namespace

CUresult GraphMemory::reserve(CUdevice device, std::size_t size, CUdeviceptr& out) {
  sim::Address base = 0;
  if (size > SIZE_MAX - kPage || machine_.virtual_memory().reserve(pages_of(size), 0, 0, base) != sim::Status::Ok) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  std::lock_guard lock{mutex_};
  blocks_[base] = {.device = device, .size = pages_of(size)};
  out = base;
  return CUDA_SUCCESS;
}

bool GraphMemory::has(CUdeviceptr base) const {
  std::lock_guard lock{mutex_};
  return blocks_.contains(base);
}

bool GraphMemory::is_live(CUdeviceptr base) const {
  std::lock_guard lock{mutex_};
  const auto found = blocks_.find(base);
  return found != blocks_.end() && found->second.is_live;
}

CUresult GraphMemory::begin(CUdeviceptr base) {
  std::lock_guard lock{mutex_};
  Block& block = blocks_.at(base);
  const int device = devices_[static_cast<std::size_t>(block.device)];
  if (machine_.memory(device).charge(block.size) != sim::Status::Ok) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  auto bytes = sim::SharedBytes::make(block.size);
  sim::VirtualMemory& memory = machine_.virtual_memory();
  if (!bytes || memory.map({.base = base, .size = block.size, .device = device, .bytes = bytes}) != sim::Status::Ok) {
    machine_.memory(device).discharge(block.size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  (void)memory.set_access(base, block.size, device, sim::Access::ReadWrite);
  block.is_live = true;
  Usage& usage = usage_[static_cast<std::size_t>(block.device)];
  usage.used += block.size;
  usage.highest = std::max(usage.highest, usage.used);
  return CUDA_SUCCESS;
}

bool GraphMemory::end(CUdeviceptr base) {
  std::lock_guard lock{mutex_};
  const auto found = blocks_.find(base);
  if (found == blocks_.end() || !found->second.is_live) {
    return false;
  }
  Block& block = found->second;
  std::vector<std::uint64_t> gone;
  (void)machine_.virtual_memory().unmap(base, block.size, gone);
  machine_.memory(devices_[static_cast<std::size_t>(block.device)]).discharge(block.size);
  usage_[static_cast<std::size_t>(block.device)].used -= block.size;
  block.is_live = false;
  return true;
}

GraphMemory::Usage GraphMemory::usage(CUdevice device) const {
  std::lock_guard lock{mutex_};
  return usage_[static_cast<std::size_t>(device)];
}

void GraphMemory::reset_highest(CUdevice device) {
  std::lock_guard lock{mutex_};
  Usage& usage = usage_[static_cast<std::size_t>(device)];
  usage.highest = usage.used;
}

}  // namespace cuda_sim
