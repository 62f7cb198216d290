// A driver of constant cost, so that a benchmark measures what stands above it: addresses come from a counter, nothing
// is checked.
#pragma once

#include <cstdint>
#include <mutex>

#include "shim/alloc/upstream.hpp"

namespace tidemark::bench {

class NullDevice final : public alloc::Upstream {
 public:
  Result<alloc::DevicePtr> allocate(alloc::ContextId, Bytes size) noexcept override {
    const std::lock_guard guard(mutex_);
    ++allocations;
    const alloc::DevicePtr ptr{next_};
    next_ += (size.count() + kStep - 1) / kStep * kStep;
    return ptr;
  }
  Status release(alloc::ContextId, alloc::DevicePtr) noexcept override {
    const std::lock_guard guard(mutex_);
    ++releases;
    return {};
  }
  Status wait_for_all_work(alloc::ContextId) noexcept override { return {}; }
  Result<alloc::FenceToken> record_fence(alloc::ContextId) noexcept override { return alloc::FenceToken{1}; }
  Result<bool> is_fence_done(alloc::ContextId, alloc::FenceToken) noexcept override { return true; }
  Result<alloc::MemoryInfo> memory_info(alloc::ContextId) noexcept override {
    return alloc::MemoryInfo{.free = 80_GiB, .total = 80_GiB};
  }

  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;

 private:
  static constexpr std::uint64_t kStep = 2 << 20;

  std::mutex mutex_;
  std::uint64_t next_ = 0x7000'0000'0000;
};

}  // namespace tidemark::bench
