#include "shim/runtime/cuda_runtime_calls.hpp"

#include "shim/backend/cuda_runtime_backend.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/our_failure.hpp"

namespace tidemark::runtime {
namespace {

alloc::DevicePtr address_of(const void* ptr) noexcept { return alloc::DevicePtr{reinterpret_cast<std::uint64_t>(ptr)}; }

void* nobodys() noexcept {
  static constexpr std::uintptr_t kOdd = 1;
  return reinterpret_cast<void*>(kOdd);  // NOLINT(performance-no-int-to-ptr)
}

Answer<cudaError_t> answer(const Error& error) noexcept {
  return is_ours_to_hide(error) ? Answer<cudaError_t>{std::nullopt} : backend::to_cudart(error);
}

}  // namespace

// Null: none, or (without `makes`) one that never allocated through us.
ServedDevice* CudaRuntimeCalls::current_device(bool makes) noexcept {
  const auto ordinal = backend::current_device(real_);
  if (!ordinal) {
    return nullptr;
  }
  const DeviceKey key{.layer = Layer::CudaRuntime,
                      .runtime = static_cast<std::uint8_t>(backend::cuda_runtimes.index_of(real_)),
                      .ordinal = static_cast<std::uint16_t>(*ordinal)};
  if (!makes) {
    return runtime_.find(key);
  }
  return runtime_.device(
      key,
      [&](ServedDevice::UpstreamPlace& place) -> alloc::Upstream& {
        return place.emplace<backend::CudaRuntimeUpstream>(real_, *ordinal);
      },
      [&] { return backend::describe_device(real_, *ordinal); });
}

Answer<cudaError_t> CudaRuntimeCalls::allocate(void** ptr, std::size_t size) noexcept {
  ServedDevice* device = ptr == nullptr || size == 0 ? nullptr : current_device(true);
  if (device == nullptr) {
    return std::nullopt;
  }
  const backend::LastErrorScope last_error{real_};
  const publish::Historian::CallStack stack{runtime_.historian()};
  const auto allocated = device->cache().allocate(device->generation(), Bytes{size});
  if (!allocated) {
    runtime_.after_failure(*device, allocated.error());
    return answer(allocated.error());
  }
  last_error.forget_ours();
  *ptr = reinterpret_cast<void*>(allocated.value().address());
  runtime_.after_success(*device);
  return cudaSuccess;
}

// The runtime's own refusal of a pointer that is nobody's: its code, and its last error set as the program expects.
cudaError_t CudaRuntimeCalls::refuse() noexcept { return real_.cudaFree(nobodys()); }

void CudaRuntimeCalls::adopt(void* ptr, std::size_t size) noexcept {
  ServedDevice* device = current_device(true);
  const publish::Historian::CallStack stack{runtime_.historian()};
  if (device != nullptr && device->cache().adopt_pass_through(device->generation(), address_of(ptr), Bytes{size})) {
    runtime_.after_success(*device);
  }
}

// Memory of what the runtime ends in? Only a clear no counts as one.
bool CudaRuntimeCalls::knows(const void* ptr) noexcept {
  if (!real_.cudaPointerGetAttributes.exists()) {
    return true;
  }
  const hook::CancellationAway cancellation;
  const backend::LastErrorScope last_error{real_};
  cudaPointerAttributes what{};
  const cudaError_t code = real_.cudaPointerGetAttributes(&what, ptr);
  if (code != cudaSuccess) {
    last_error.forget_ours();
    return code != cudaErrorInvalidValue;
  }
  return what.type != cudaMemoryTypeUnregistered;
}

alloc::DeviceCache* CudaRuntimeCalls::owner_of(const void* ptr) noexcept {
  if (real_.layer() == backend::RuntimeLayer::Undecided) {
    alloc::DeviceCache* const owner = runtime_.owner_of(address_of(ptr));
    return owner != nullptr && knows(ptr) ? owner : nullptr;
  }
  const auto runtime = static_cast<std::uint8_t>(backend::cuda_runtimes.index_of(real_));
  return runtime_.owner_of(address_of(ptr), Layer::CudaRuntime, runtime, [=, this] { return knows(ptr); });
}

Answer<cudaError_t> CudaRuntimeCalls::release(void* ptr) noexcept {
  alloc::DeviceCache* cache = owner_of(ptr);
  if (cache == nullptr) {
    return std::nullopt;
  }
  const Status released = cache->release(address_of(ptr));
  if (!released.ok()) {
    return released.error().code == ErrorCode::InvalidValue ? refuse() : answer(released.error());
  }
  runtime_.after_call();
  return cudaSuccess;
}

// As CudaDriverCalls::release_later. What the runtime refuses it shall refuse itself, so that its last error is set.
Answer<cudaError_t> CudaRuntimeCalls::release_later(void* ptr, cudaStream_t stream) noexcept {
  const bool has_handle = stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
  if (has_handle && owner_of(ptr) != nullptr && real_.cudaStreamIsCapturing.exists()) {
    const hook::CancellationAway cancellation;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t code = real_.cudaStreamIsCapturing(stream, &status);
    if (code != cudaSuccess) {
      return code;
    }
    if (status != cudaStreamCaptureStatusNone) {
      return real_.cudaFreeAsync(nobodys(), stream);
    }
  }
  return release(ptr);
}

Answer<cudaError_t> CudaRuntimeCalls::memory_info(std::size_t* free, std::size_t* total) noexcept {
  ServedDevice* device = free == nullptr || total == nullptr ? nullptr : current_device(false);
  if (device == nullptr) {
    return std::nullopt;
  }
  const auto info = device->cache().memory_info(device->generation());
  if (!info) {
    return answer(info.error());
  }
  *free = info.value().free.count();
  *total = info.value().total.count();
  return cudaSuccess;
}

// The rules of CudaDriverCalls::export_memory.
Answer<cudaError_t> CudaRuntimeCalls::export_memory(cudaIpcMemHandle_t* handle, void* ptr) noexcept {
  alloc::DeviceCache* cache = owner_of(ptr);
  const auto block = cache == nullptr ? std::nullopt : cache->find(address_of(ptr));
  if (!block) {
    return std::nullopt;
  }
  if (!block->live) {
    return cudaErrorInvalidValue;
  }
  for (const Layer layer : {Layer::CudaDriver, Layer::CudaRuntime}) {
    runtime_.for_each_device(layer, [](ServedDevice& device) { device.cache().stop_sub_allocating(); });
  }
  if (!block->whole_segment) {
    return cudaErrorInvalidValue;
  }
  (void)cache->pin_segment(address_of(ptr));
  return real_.cudaIpcGetMemHandle(handle, ptr);
}

Answer<cudaError_t> CudaRuntimeCalls::reset_device() noexcept {
  ServedDevice* device = current_device(false);
  if (device == nullptr) {
    return std::nullopt;
  }
  const alloc::ContextId ending = device->generation();
  device->cache().detach_context(ending);
  const cudaError_t code = real_.cudaDeviceReset();
  if (code == cudaSuccess) {
    device->begin_next_generation();
    device->cache().forget_detached(ending);
  } else {
    device->cache().reattach(ending);
  }
  return code;
}

}  // namespace tidemark::runtime
