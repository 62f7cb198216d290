// The CUDA driver seen from the allocator: one device's memory in its contexts.
#pragma once

#include "shared/base/result.hpp"
#include "shim/alloc/upstream.hpp"
#include "shim/backend/capture_gate.hpp"
#include "shim/backend/cuda_contexts.hpp"
#include "shim/backend/device_identity.hpp"

namespace tidemark::backend {

// The driver's code for an error of ours: its own where there is one.
[[nodiscard]] CUresult to_cuda(Error error) noexcept;

[[nodiscard]] Status cuda_failure(CUresult code) noexcept;
[[nodiscard]] inline Status cuda_status(CUresult code) noexcept {
  return code == CUDA_SUCCESS ? Status{} : cuda_failure(code);
}

class CudaFences;

class CudaDriverUpstream final : public alloc::Upstream {
 public:
  CudaDriverUpstream(CudaContexts& contexts, CaptureGate& gate, CudaFences& fences) noexcept
      : contexts_(contexts), gate_(gate), fences_(fences) {}

  Result<alloc::DevicePtr> allocate(alloc::ContextId context, Bytes size) noexcept override;
  Status release(alloc::ContextId context, alloc::DevicePtr ptr) noexcept override;
  Status release_later(alloc::ContextId context, alloc::DevicePtr ptr, alloc::StreamHandle stream) noexcept override;
  // Waits for every context whose work may use the owner's memory (CudaContexts::for_each_user).
  Status wait_for_all_work(alloc::ContextId context) noexcept override;
  Status release_idle(alloc::ContextId context, alloc::DevicePtr ptr) noexcept override;
  Result<alloc::FenceToken> record_fence(alloc::ContextId context) noexcept override;
  Result<bool> is_fence_done(alloc::ContextId context, alloc::FenceToken token) noexcept override;
  void drop_fence(alloc::ContextId context, alloc::FenceToken token) noexcept override;
  Status fill(alloc::ContextId context, alloc::DevicePtr ptr, Bytes size, unsigned char value) noexcept override;
  [[nodiscard]] bool can_fill() const noexcept override;
  Result<alloc::MemoryInfo> memory_info(alloc::ContextId context) noexcept override;
  [[nodiscard]] bool may_make_helper_calls() const noexcept override { return !gate_.is_open(); }

 private:
  Status wait_for_each_user(alloc::ContextId context) noexcept;

  CudaContexts& contexts_;
  CaptureGate& gate_;
  CudaFences& fences_;
};

[[nodiscard]] DeviceIdentity describe_cuda_device(CUdevice device) noexcept;

}  // namespace tidemark::backend
