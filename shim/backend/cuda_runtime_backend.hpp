// A CUDA runtime that ends in no driver we can hook, seen from the allocator: one device's memory. Devices have no
// contexts here; a device reset ends what came before, so the context is the device's generation.
#pragma once

#include <optional>

#include "shared/base/result.hpp"
#include "shim/alloc/upstream.hpp"
#include "shim/backend/cuda_runtimes.hpp"
#include "shim/backend/device_identity.hpp"

namespace tidemark::backend {

// The runtime's code for an error of ours: its own where there is one.
[[nodiscard]] cudaError_t to_cudart(Error error) noexcept;

class CudaRuntimeUpstream final : public alloc::Upstream {
 public:
  CudaRuntimeUpstream(const CudaRuntime& runtime, int device) noexcept : runtime_(runtime), device_(device) {}

  Result<alloc::DevicePtr> allocate(alloc::ContextId context, Bytes size) noexcept override;
  Status release(alloc::ContextId context, alloc::DevicePtr ptr) noexcept override;
  Status wait_for_all_work(alloc::ContextId context) noexcept override;
  Status fill(alloc::ContextId context, alloc::DevicePtr ptr, Bytes size, unsigned char value) noexcept override;
  [[nodiscard]] bool can_fill() const noexcept override;
  Result<alloc::MemoryInfo> memory_info(alloc::ContextId context) noexcept override;

 private:
  const CudaRuntime& runtime_;
  int device_;
};

// A failed attempt of ours leaves the runtime's last error behind. Where the program's call then succeeds after all, it
// must go: the program would take it for the error of its own last launch (pytorch#13751). Where the call fails, it
// must stay.
class LastErrorScope {
 public:
  explicit LastErrorScope(const CudaRuntime& runtime) noexcept;
  void forget_ours() const noexcept;

 private:
  const CudaRuntime& runtime_;
  bool had_none_;
};

[[nodiscard]] std::optional<int> current_device(const CudaRuntime& runtime) noexcept;

[[nodiscard]] DeviceIdentity describe_device(const CudaRuntime& runtime, int device) noexcept;

}  // namespace tidemark::backend
