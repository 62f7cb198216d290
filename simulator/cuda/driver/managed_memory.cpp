#include "simulator/cuda/driver/managed_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace cuda_sim {
namespace {

constexpr std::size_t kPage = 4096;

std::uintptr_t page_down(std::uintptr_t at) { return at / kPage * kPage; }
std::uintptr_t page_up(std::uintptr_t at) { return page_down(at + kPage - 1); }

}  // namespace

ManagedMemory::Ranges::const_iterator ManagedMemory::around(std::uintptr_t address) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) {
    return ranges_.end();
  }
  const auto range = std::prev(after);
  return address - range->first < range->second.size ? range : ranges_.end();
}

CUresult ManagedMemory::allocate(Context& context, std::size_t size, unsigned flags, CUdeviceptr& out) {
  if (size > SIZE_MAX - kPage) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  // More than the host has may be asked for: pages cost once they are touched.
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* mapped = mmap(nullptr, page_up(size), PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (mapped == MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const auto base = reinterpret_cast<std::uintptr_t>(mapped);
  std::lock_guard lock{mutex_};
  ranges_[base] = {.base = base, .size = size, .flags = flags, .context = &context, .serial = ++last_serial_};
  advice_[base] = {};
  out = base;
  return CUDA_SUCCESS;
}

void ManagedMemory::drop(const ManagedRange& range) {
  const auto last = advice_.lower_bound(page_up(range.base + range.size));
  advice_.erase(advice_.lower_bound(range.base), last);
  munmap(reinterpret_cast<void*>(range.base), page_up(range.size));
}

CUresult ManagedMemory::free(CUdeviceptr base) {
  std::lock_guard lock{mutex_};
  const auto found = ranges_.find(base);
  if (found == ranges_.end()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  drop(found->second);
  ranges_.erase(found);
  return CUDA_SUCCESS;
}

std::optional<ManagedRange> ManagedMemory::find(CUdeviceptr address) const {
  std::lock_guard lock{mutex_};
  const auto found = around(address);
  return found != ranges_.end() ? std::optional{found->second} : std::nullopt;
}

bool ManagedMemory::is_empty() const {
  std::lock_guard lock{mutex_};
  return ranges_.empty();
}

std::optional<ManagedMemory::Pages> ManagedMemory::pages_of(std::uintptr_t address, std::size_t size) const {
  const auto range = around(address);
  if (size == 0 || range == ranges_.end() || size > range->second.size - (address - range->first)) {
    return std::nullopt;
  }
  return Pages{page_down(address), page_up(address + size)};
}

void ManagedMemory::split(std::uintptr_t at) {
  const auto after = advice_.upper_bound(at);
  // Nothing to cut before the first allocation, and nothing is lost where one ends.
  if (after == advice_.begin() || std::prev(after)->first == at || around(at) == ranges_.end()) {
    return;
  }
  advice_.emplace_hint(after, at, std::prev(after)->second);
}

std::optional<Advice> ManagedMemory::common_advice(CUdeviceptr address, std::size_t size) const {
  std::lock_guard lock{mutex_};
  const std::optional<Pages> pages = pages_of(address, size);
  if (!pages) {
    return std::nullopt;
  }
  auto at = std::prev(advice_.upper_bound(pages->first));
  Advice common = at->second;
  for (++at; at != advice_.end() && at->first < pages->last; ++at) {
    const Advice& other = at->second;
    common.read_mostly = common.read_mostly && other.read_mostly;
    if (common.preferred != other.preferred) {
      common.preferred = {};
    }
    if (common.prefetched != other.prefetched) {
      common.prefetched = {};
    }
    std::erase_if(common.accessed_by, [&](int device) { return !other.accessed_by.contains(device); });
  }
  return common;
}

void ManagedMemory::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  std::erase_if(ranges_, [&](const auto& entry) {
    if (entry.second.context != &context) {
      return false;
    }
    drop(entry.second);
    return true;
  });
}

}  // namespace cuda_sim
