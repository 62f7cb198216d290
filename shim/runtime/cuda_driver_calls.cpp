#include "shim/runtime/cuda_driver_calls.hpp"

#include "shim/backend/cuda_driver_backend.hpp"
#include "shim/backend/cuda_fences.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/cuda_context_calls.hpp"
#include "shim/runtime/our_failure.hpp"

namespace tidemark::runtime {
namespace {

constinit backend::CudaFences fences;

DeviceKey key_of(int device) noexcept {
  return {.layer = Layer::CudaDriver, .ordinal = static_cast<std::uint16_t>(device)};
}

// The code the program gets; nothing where the failure is ours and the driver shall answer.
[[gnu::cold]] Answer<CUresult> answer(Error error) noexcept {
  return is_ours_to_hide(error) ? Answer<CUresult>{std::nullopt} : backend::to_cuda(error);
}

[[gnu::noinline, gnu::cold]] ServedDevice* meet_device(Runtime& runtime, int device) noexcept {
  return runtime.device(
      key_of(device),
      [](ServedDevice::UpstreamPlace& upstream) -> alloc::Upstream& {
        return upstream.emplace<backend::CudaDriverUpstream>(cuda_contexts(), capture_gate(), fences);
      },
      [&] { return backend::describe_cuda_device(device); });
}

// Why the driver would not free in this stream: it is none, or it captures, and memory of no graph cannot be freed in a
// graph. The question is one of the few that a capture allows.
CUresult ask_for_refusal(CUstream stream) noexcept {
  const bool has_handle = stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
  if (!has_handle || !backend::real_cuda().cuStreamIsCapturing.exists()) {
    return CUDA_SUCCESS;
  }
  const hook::CancellationAway cancellation;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult code = backend::real_cuda().cuStreamIsCapturing(stream, &status);
  return code == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE ? CUDA_ERROR_INVALID_VALUE : code;
}

}  // namespace

Answer<CUresult> CudaDriverCalls::allocate(CUdeviceptr* ptr, std::size_t size) noexcept {
  const auto place = ptr == nullptr || size == 0 ? std::nullopt : cuda_contexts().current();
  if (!place) {
    return std::nullopt;
  }
  ServedDevice* device = runtime_.find(key_of(place->device));
  if (device == nullptr) [[unlikely]] {
    device = meet_device(runtime_, place->device);
  }
  if (device == nullptr) {
    return std::nullopt;
  }
  const auto allocated = device->cache().allocate(place->context, Bytes{size});
  if (!allocated) [[unlikely]] {
    runtime_.after_failure(*device, allocated.error());
    return answer(allocated.error());
  }
  *ptr = allocated.value().address();
  runtime_.after_success(*device);
  return CUDA_SUCCESS;
}

inline Answer<CUresult> CudaDriverCalls::answer_release(Status released) noexcept {
  if (!released.ok()) [[unlikely]] {
    return answer(released.error());
  }
  runtime_.after_call();
  return CUDA_SUCCESS;
}

Answer<CUresult> CudaDriverCalls::release(CUdeviceptr ptr) noexcept {
  alloc::DeviceCache* cache = runtime_.owner_of(alloc::DevicePtr{ptr});
  return cache == nullptr ? std::nullopt : answer_release(cache->release(alloc::DevicePtr{ptr}));
}

Answer<CUresult> CudaDriverCalls::release_later(CUdeviceptr ptr, CUstream stream) noexcept {
  alloc::DeviceCache* cache = runtime_.owner_of(alloc::DevicePtr{ptr});
  if (cache == nullptr) {
    return std::nullopt;
  }
  if (const CUresult refusal = ask_for_refusal(stream); refusal != CUDA_SUCCESS) {
    return refusal;
  }
  const alloc::StreamHandle handle{reinterpret_cast<std::uint64_t>(stream)};
  return answer_release(cache->release_later(alloc::DevicePtr{ptr}, handle));
}

Answer<CUresult> CudaDriverCalls::memory_info(std::size_t* free, std::size_t* total) noexcept {
  const auto place = free == nullptr && total == nullptr ? std::nullopt : cuda_contexts().current();
  ServedDevice* device = place ? runtime_.find(key_of(place->device)) : nullptr;
  if (device == nullptr) {
    return std::nullopt;
  }
  const auto info = device->cache().memory_info(place->context);
  if (!info) {
    return answer(info.error());
  }
  if (free != nullptr) {
    *free = info.value().free.count();
  }
  if (total != nullptr) {
    *total = info.value().total.count();
  }
  return CUDA_SUCCESS;
}

Answer<CUresult> CudaDriverCalls::export_memory(CUipcMemHandle* handle, CUdeviceptr ptr) noexcept {
  const alloc::DevicePtr address{ptr};
  alloc::DeviceCache* cache = runtime_.owner_of(address);
  const auto block = cache == nullptr ? std::nullopt : cache->find(address);
  if (!block) {
    return std::nullopt;
  }
  if (!block->live) {
    return CUDA_ERROR_INVALID_VALUE;  // natively this memory would be gone
  }
  // A program that exports one block will export others: from now on each request gets memory of its own.
  runtime_.for_each_device(Layer::CudaDriver, [](ServedDevice& device) { device.cache().stop_sub_allocating(); });
  if (!block->whole_segment) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Pinned before the handle leaves: from then on another process may hold it.
  (void)cache->pin_segment(address);
  return backend::real_cuda().cuIpcGetMemHandle(handle, ptr);
}

bool CudaDriverCalls::make_room() noexcept {
  bool gave_back = false;
  runtime_.for_each_device(Layer::CudaDriver, [&](ServedDevice& device) {
    const auto given_back = device.cache().empty_cache();
    gave_back |= given_back.ok() && given_back.value() > Bytes{0};
  });
  return gave_back;
}

}  // namespace tidemark::runtime
