// What a program set of an allocation (cuPointerSetAttribute); a later one at the same address starts anew. Any thread
// may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace cuda_sim {

class PointerFlags {
 public:
  void set_sync_memops(CUdeviceptr base, std::uint64_t serial, bool on) {
    std::lock_guard lock{mutex_};
    if (on) {
      synchronous_[base] = serial;
    } else {
      synchronous_.erase(base);
    }
  }
  [[nodiscard]] bool sync_memops(CUdeviceptr base, std::uint64_t serial) const {
    std::lock_guard lock{mutex_};
    const auto found = synchronous_.find(base);
    return found != synchronous_.end() && found->second == serial;
  }

 private:
  mutable std::mutex mutex_;
  std::map<CUdeviceptr, std::uint64_t> synchronous_;
};

}  // namespace cuda_sim
