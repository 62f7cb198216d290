// The CUDA driver seen from the allocator: one device's memory in its contexts.
#pragma once

#include "shared/base/result.hpp"
#include "shim/alloc/upstream.hpp"
#include "shim/backend/cuda_contexts.hpp"
#include "shim/backend/device_identity.hpp"

namespace tidemark::backend {

// The driver's code for an error of ours: its own where there is one.
[[nodiscard]] CUresult to_cuda(Error error) noexcept;

class CudaDriverUpstream final : public alloc::Upstream {
 public:
  explicit CudaDriverUpstream(CudaContexts& contexts) noexcept : contexts_(contexts) {}

  Result<alloc::DevicePtr> allocate(alloc::ContextId context, Bytes size) noexcept override;
  Status release(alloc::ContextId context, alloc::DevicePtr ptr) noexcept override;
  // Waits for every live context we met: with peer access another context's work may use the block (DESIGN D5).
  Status wait_for_all_work(alloc::ContextId context) noexcept override;
  Result<alloc::MemoryInfo> memory_info(alloc::ContextId context) noexcept override;

 private:
  CudaContexts& contexts_;
};

[[nodiscard]] DeviceIdentity describe_cuda_device(CUdevice device) noexcept;

}  // namespace tidemark::backend
