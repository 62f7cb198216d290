#include "shim/backend/cuda_driver_backend.hpp"

#include <cstring>

#include "shim/backend/cuda_fences.hpp"
#include "shim/backend/unasked.hpp"
#include "shim/hook/reentry_guard.hpp"

namespace tidemark::backend {
namespace {

// Runs `call` with `context` current; an ended context is what the driver itself would say it is. Where the thread
// can't be brought there, the call is made as the program made it: an allocation is for the context that the program is
// in, and a free finds its memory by the address.
template <class Call>
CUresult in_context(const CudaContexts& contexts, alloc::ContextId context, Call&& call) noexcept {
  CUcontext const handle = contexts.handle_of(context);
  if (handle == nullptr) {
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  const ContextScope scope{handle};
  return call();
}

// While it lives the thread may make calls that the captures of others, or its own, forbid it, and they don't notice:
// what cuda.h offers a library for allocations of its own (cuThreadExchangeStreamCaptureMode), and what NCCL does
// around its cudaMalloc and cudaFree.
class RelaxedThread {
 public:
  RelaxedThread() noexcept
      : is_relaxed_(real_cuda().cuThreadExchangeStreamCaptureMode.exists() &&
                    real_cuda().cuThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS) {}
  ~RelaxedThread() {
    if (is_relaxed_) {
      (void)real_cuda().cuThreadExchangeStreamCaptureMode(&mode_);
    }
  }
  RelaxedThread(const RelaxedThread&) = delete;
  RelaxedThread& operator=(const RelaxedThread&) = delete;

  [[nodiscard]] bool is_relaxed() const noexcept { return is_relaxed_; }

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // the thread's own, once exchanged
  const bool is_relaxed_;
};

}  // namespace

Status cuda_failure(CUresult code) noexcept {
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return Error{ErrorCode::OutOfMemory, code};
    case CUDA_ERROR_INVALID_VALUE:
      return Error{ErrorCode::InvalidValue, code};
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return Error{ErrorCode::NotInitialized, code};
    case CUDA_ERROR_NOT_PERMITTED:
      return Error{ErrorCode::Refused, code};
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return Error{ErrorCode::Busy, code};  // a capture that began on a way we don't see
    default:
      return Error{ErrorCode::DriverFailure, code};
  }
}

CUresult to_cuda(Error error) noexcept {
  if (error.native != 0) {
    return static_cast<CUresult>(error.native);
  }
  switch (error.code) {
    case ErrorCode::OutOfMemory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case ErrorCode::InvalidValue:
    case ErrorCode::NotOurs:
      return CUDA_ERROR_INVALID_VALUE;
    case ErrorCode::NotInitialized:
      return CUDA_ERROR_NOT_INITIALIZED;
    default:
      return CUDA_ERROR_UNKNOWN;
  }
}

Result<alloc::DevicePtr> CudaDriverUpstream::allocate(alloc::ContextId context, Bytes size) noexcept {
  const hook::DriverCallScope scope_of_call;
  CUdeviceptr ptr = 0;
  const Status status =
      cuda_status(in_context(contexts_, context, [&] { return real_cuda().cuMemAlloc_v2(&ptr, size.count()); }));
  if (!status.ok()) {
    return status.error();
  }
  return alloc::DevicePtr{ptr};
}

Status CudaDriverUpstream::release(alloc::ContextId context, alloc::DevicePtr ptr) noexcept {
  const hook::DriverCallScope scope_of_call;
  return cuda_status(in_context(contexts_, context, [&] { return real_cuda().cuMemFree_v2(ptr.address()); }));
}

Status CudaDriverUpstream::release_later(alloc::ContextId context, alloc::DevicePtr ptr,
                                         alloc::StreamHandle stream) noexcept {
  const hook::DriverCallScope scope_of_call;
  auto* const handle = reinterpret_cast<CUstream>(stream);  // NOLINT(performance-no-int-to-ptr)
  return cuda_status(in_context(contexts_, context, [&] { return real_cuda().cuMemFreeAsync(ptr.address(), handle); }));
}

Status CudaDriverUpstream::wait_for_all_work(alloc::ContextId context) noexcept {
  const hook::DriverCallScope scope_of_call;
  const CaptureGate::HelperToken token{gate_};
  if (!token.is_granted()) {
    return Error{ErrorCode::Busy};
  }
  CUcontext current = nullptr;
  if (real_cuda().cuCtxGetCurrent(&current) == CUDA_SUCCESS && contexts_.is_alone(context, current)) [[likely]] {
    return cuda_status(real_cuda().cuCtxSynchronize());
  }
  return wait_for_each_user(context);
}

Status CudaDriverUpstream::wait_for_each_user(alloc::ContextId context) noexcept {
  if (contexts_.handle_of(context) == nullptr) {
    return cuda_status(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  }
  Status owners;
  Status others;
  contexts_.for_each_user(context, [&](alloc::ContextId user, CUcontext handle) {
    const ContextScope scope{handle};
    Status& whose = user == context ? owners : others;
    if (scope.status() != CUDA_SUCCESS) {
      const Error error = unasked(cuda_failure(scope.status()));
      // Another context that has ended meanwhile has no work left; of one that can't be entered nobody knows.
      if (user == context || error.code == ErrorCode::Busy) {
        whose = error;
      }
      return true;
    }
    const CUresult code = real_cuda().cuCtxSynchronize();
    // A failure elsewhere means that no work is left there, and is not the business of this call.
    if (user == context) {
      owners = cuda_status(code);
    }
    return true;
  });
  return owners.ok() ? others : owners;
}

Status CudaDriverUpstream::release_idle(alloc::ContextId context, alloc::DevicePtr ptr) noexcept {
  const CaptureGate::HelperToken token{gate_, CaptureGate::InCapture::Granted};
  if (!gate_.is_open()) {
    return release(context, ptr);
  }
  const hook::DriverCallScope scope_of_call;
  const RelaxedThread relaxed;
  return relaxed.is_relaxed() ? release(context, ptr) : Status{Error{ErrorCode::Busy}};
}

Result<alloc::FenceToken> CudaDriverUpstream::record_fence(alloc::ContextId context) noexcept {
  const hook::DriverCallScope scope_of_call;
  const CaptureGate::HelperToken token{gate_};
  return token.is_granted() ? fences_.record(contexts_, context) : Error{ErrorCode::Busy};
}

Result<bool> CudaDriverUpstream::is_fence_done(alloc::ContextId context, alloc::FenceToken fence) noexcept {
  const hook::DriverCallScope scope_of_call;
  const CaptureGate::HelperToken token{gate_};
  return token.is_granted() ? fences_.is_done(contexts_, context, fence) : Error{ErrorCode::Busy};
}

void CudaDriverUpstream::drop_fence(alloc::ContextId, alloc::FenceToken fence) noexcept { fences_.drop(fence); }

// On a stream of its own: a default stream would wait for the program's work, and have it wait in turn. Made anew for
// each fill, so that no context's end, reset or capture has to be thought of.
Status CudaDriverUpstream::fill(alloc::ContextId context, alloc::DevicePtr ptr, Bytes size,
                                unsigned char value) noexcept {
  const hook::DriverCallScope scope_of_call;
  const CaptureGate::HelperToken token{gate_};
  if (!token.is_granted()) {
    return Error{ErrorCode::Busy};
  }
  CUcontext const handle = contexts_.handle_of(context);
  if (handle == nullptr) {
    return cuda_failure(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  }
  const ContextScope scope{handle};
  CUstream stream = nullptr;
  const CUresult made = scope.status() == CUDA_SUCCESS
                            ? asked([&] { return real_cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); })
                            : scope.status();
  if (made != CUDA_SUCCESS) {
    return unasked(cuda_failure(made));
  }
  const CUresult started = real_cuda().cuMemsetD8Async(ptr.address(), value, size.count(), stream);
  const CUresult done = real_cuda().cuStreamSynchronize(stream);
  (void)real_cuda().cuStreamDestroy_v2(stream);
  return cuda_status(started == CUDA_SUCCESS ? done : started);
}

bool CudaDriverUpstream::can_fill() const noexcept {
  return real_cuda().cuStreamCreate.exists() && real_cuda().cuMemsetD8Async.exists() &&
         real_cuda().cuStreamSynchronize.exists() && real_cuda().cuStreamDestroy_v2.exists();
}

Result<alloc::MemoryInfo> CudaDriverUpstream::memory_info(alloc::ContextId context) noexcept {
  const hook::DriverCallScope scope_of_call;
  std::size_t free = 0;
  std::size_t total = 0;
  const Status status =
      cuda_status(in_context(contexts_, context, [&] { return real_cuda().cuMemGetInfo_v2(&free, &total); }));
  if (!status.ok()) {
    return status.error();
  }
  return alloc::MemoryInfo{.free = Bytes{free}, .total = Bytes{total}};
}

DeviceIdentity describe_cuda_device(CUdevice device) noexcept {
  cuda_library.anchor.keep();
  DeviceIdentity identity;
  CUuuid uuid{};
  const bool has_v2 = real_cuda().cuDeviceGetUuid_v2.exists();  // v2 tells MIG instances apart
  const CUresult got =
      has_v2 ? real_cuda().cuDeviceGetUuid_v2(&uuid, device) : real_cuda().cuDeviceGetUuid(&uuid, device);
  if (got == CUDA_SUCCESS) {
    std::memcpy(identity.uuid.data(), uuid.bytes, identity.uuid.size());
  }
  char name[256]{};
  (void)real_cuda().cuDeviceGetName(name, sizeof name - 1, device);
  identity.set_name(name);
  (void)real_cuda().cuDeviceGetPCIBusId(identity.pci_bus_id.data(), static_cast<int>(identity.pci_bus_id.size()),
                                        device);
  identity.pci_bus_id.back() = '\0';
  std::size_t capacity = 0;
  (void)real_cuda().cuDeviceTotalMem_v2(&capacity, device);
  identity.capacity = Bytes{capacity};
  return identity;
}

}  // namespace tidemark::backend
