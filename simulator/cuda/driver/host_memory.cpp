#include "simulator/cuda/driver/host_memory.hpp"

#include <sys/mman.h>

#include <iterator>

namespace cuda_sim {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t pages_of(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

void unmap(const HostRange& range) { munmap(reinterpret_cast<void*>(range.base), pages_of(range.size)); }

}  // namespace

HostMemory::Ranges::const_iterator HostMemory::around(std::uintptr_t address) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) {
    return ranges_.end();
  }
  const auto range = std::prev(after);
  return address - range->first < range->second.size ? range : ranges_.end();
}

CUresult HostMemory::allocate(Context& context, std::size_t size, unsigned flags, void*& out) {
  if (size > SIZE_MAX - kPage) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  void* mapped = mmap(nullptr, pages_of(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const auto base = reinterpret_cast<std::uintptr_t>(mapped);
  std::lock_guard lock{mutex_};
  ranges_[base] = {.base = base, .size = size, .flags = flags, .context = &context};
  out = mapped;
  return CUDA_SUCCESS;
}

CUresult HostMemory::free(void* pointer) {
  std::lock_guard lock{mutex_};
  const auto found = ranges_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == ranges_.end() || found->second.is_registered) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  unmap(found->second);
  ranges_.erase(found);
  return CUDA_SUCCESS;
}

CUresult HostMemory::add(Context& context, void* pointer, std::size_t size, unsigned flags) {
  const auto base = reinterpret_cast<std::uintptr_t>(pointer);
  if (base + size < base) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::lock_guard lock{mutex_};
  const auto next = ranges_.lower_bound(base);
  if (around(base) != ranges_.end() || (next != ranges_.end() && next->first < base + size)) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  ranges_[base] = {.base = base, .size = size, .flags = flags, .context = &context, .is_registered = true};
  return CUDA_SUCCESS;
}

CUresult HostMemory::remove(void* pointer) {
  std::lock_guard lock{mutex_};
  const auto found = ranges_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == ranges_.end() || !found->second.is_registered) {
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  }
  ranges_.erase(found);
  return CUDA_SUCCESS;
}

std::optional<HostRange> HostMemory::find(const void* pointer) const {
  std::lock_guard lock{mutex_};
  const auto found = around(reinterpret_cast<std::uintptr_t>(pointer));
  return found != ranges_.end() ? std::optional{found->second} : std::nullopt;
}

void HostMemory::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  std::erase_if(ranges_, [&](const auto& entry) {
    const HostRange& range = entry.second;
    if (range.context != &context) {
      return false;
    }
    if (!range.is_registered) {
      unmap(range);
    }
    return true;
  });
}

}  // namespace cuda_sim
