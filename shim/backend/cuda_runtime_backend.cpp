#include "shim/backend/cuda_runtime_backend.hpp"

#include <cstring>

#include "shim/backend/unasked.hpp"
#include "shim/hook/reentry_guard.hpp"

namespace tidemark::backend {
namespace {

Status to_status(cudaError_t code) noexcept {
  switch (code) {
    case cudaSuccess:
      return {};
    case cudaErrorMemoryAllocation:
      return Error{ErrorCode::OutOfMemory, code};
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevicePointer:
      return Error{ErrorCode::InvalidValue, code};
    case cudaErrorInitializationError:
    case cudaErrorCudartUnloading:
      return Error{ErrorCode::NotInitialized, code};
    case cudaErrorNotPermitted:
      return Error{ErrorCode::Refused, code};
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureImplicit:
      return Error{ErrorCode::Busy, code};  // a capture that began on a way we don't see
    default:
      return Error{ErrorCode::DriverFailure, code};
  }
}

// A question of ours, put once more if it fails.
template <class Ask>
cudaError_t asked(Ask&& ask) noexcept {
  const cudaError_t code = ask();
  return code == cudaSuccess ? code : ask();
}

// Makes `device` the thread's device while it lives. The runtime's last error is the caller's to mind (LastErrorScope).
class DeviceScope {
 public:
  DeviceScope(const CudaRuntime& runtime, int device) noexcept : runtime_(runtime) {
    cudaError_t code = asked([&] { return runtime_.cudaGetDevice(&outer_); });
    if (code == cudaSuccess && outer_ != device) {
      code = asked([&] { return runtime_.cudaSetDevice(device); });
      changed_ = code == cudaSuccess;
    }
    if (code != cudaSuccess) {
      status_ = unasked(to_status(code));
    }
  }
  ~DeviceScope() {
    if (changed_) {
      (void)asked([&] { return runtime_.cudaSetDevice(outer_); });
    }
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  // Otherwise the thread is where it was: right for an allocation, which is for the device that the program is on.
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  const CudaRuntime& runtime_;
  int outer_ = 0;
  bool changed_ = false;
  Status status_;
};

}  // namespace

cudaError_t to_cudart(Error error) noexcept {
  if (error.native != 0) {
    return static_cast<cudaError_t>(error.native);
  }
  switch (error.code) {
    case ErrorCode::OutOfMemory:
      return cudaErrorMemoryAllocation;
    case ErrorCode::InvalidValue:
    case ErrorCode::NotOurs:
      return cudaErrorInvalidValue;
    case ErrorCode::NotInitialized:
      return cudaErrorInitializationError;
    default:
      return cudaErrorUnknown;
  }
}

Result<alloc::DevicePtr> CudaRuntimeUpstream::allocate(alloc::ContextId, Bytes size) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{runtime_, device_};
  void* ptr = nullptr;
  const Status status = to_status(runtime_.cudaMalloc(&ptr, size.count()));
  if (!status.ok()) {
    return status.error();
  }
  return alloc::DevicePtr{reinterpret_cast<std::uint64_t>(ptr)};
}

Status CudaRuntimeUpstream::release(alloc::ContextId, alloc::DevicePtr ptr) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{runtime_, device_};
  return to_status(runtime_.cudaFree(reinterpret_cast<void*>(ptr.address())));
}

Status CudaRuntimeUpstream::wait_for_all_work(alloc::ContextId) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{runtime_, device_};
  return scope.status().ok() ? to_status(runtime_.cudaDeviceSynchronize()) : scope.status();
}

// As CudaDriverUpstream::fill.
Status CudaRuntimeUpstream::fill(alloc::ContextId, alloc::DevicePtr ptr, Bytes size, unsigned char value) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{runtime_, device_};
  if (!scope.status().ok()) {
    return scope.status();
  }
  cudaStream_t stream = nullptr;
  if (const cudaError_t made =
          asked([&] { return runtime_.cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); });
      made != cudaSuccess) {
    return unasked(to_status(made));
  }
  const cudaError_t started =
      runtime_.cudaMemsetAsync(reinterpret_cast<void*>(ptr.address()), value, size.count(), stream);
  const cudaError_t done = runtime_.cudaStreamSynchronize(stream);
  (void)runtime_.cudaStreamDestroy(stream);
  return to_status(started == cudaSuccess ? done : started);
}

bool CudaRuntimeUpstream::can_fill() const noexcept {
  return runtime_.cudaStreamCreateWithFlags.exists() && runtime_.cudaMemsetAsync.exists() &&
         runtime_.cudaStreamSynchronize.exists() && runtime_.cudaStreamDestroy.exists();
}

Result<alloc::MemoryInfo> CudaRuntimeUpstream::memory_info(alloc::ContextId) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{runtime_, device_};
  std::size_t free = 0;
  std::size_t total = 0;
  const Status status = to_status(runtime_.cudaMemGetInfo(&free, &total));
  if (!status.ok()) {
    return status.error();
  }
  return alloc::MemoryInfo{.free = Bytes{free}, .total = Bytes{total}};
}

LastErrorScope::LastErrorScope(const CudaRuntime& runtime) noexcept
    : runtime_(runtime), had_none_(runtime.cudaPeekAtLastError() == cudaSuccess) {}

void LastErrorScope::forget_ours() const noexcept {
  if (had_none_) {
    (void)runtime_.cudaGetLastError();
  }
}

std::optional<int> current_device(const CudaRuntime& runtime) noexcept {
  int device = 0;
  return runtime.cudaGetDevice(&device) == cudaSuccess ? std::optional{device} : std::nullopt;
}

DeviceIdentity describe_device(const CudaRuntime& runtime, int device) noexcept {
  DeviceIdentity identity;
  cudaDeviceProp properties{};
  if (runtime.cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
    std::memcpy(identity.uuid.data(), properties.uuid.bytes, identity.uuid.size());
    identity.set_name(properties.name);
    identity.capacity = Bytes{properties.totalGlobalMem};
  }
  const auto room = static_cast<int>(identity.pci_bus_id.size());
  (void)runtime.cudaDeviceGetPCIBusId(identity.pci_bus_id.data(), room, device);
  identity.pci_bus_id.back() = '\0';
  return identity;
}

}  // namespace tidemark::backend
