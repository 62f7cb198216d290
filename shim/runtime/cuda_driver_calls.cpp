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

// Memory of the driver's own? Without a current context it answers neither way, and is then not left alone with it.
[[gnu::cold]] bool knows(CUdeviceptr ptr) noexcept {
  const hook::CancellationAway cancellation;
  CUmemorytype type{};
  return backend::real_cuda().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr) !=
         CUDA_ERROR_INVALID_VALUE;
}

alloc::DeviceCache* owner_of(Runtime& runtime, CUdeviceptr ptr) noexcept {
  return runtime.owner_of(alloc::DevicePtr{ptr}, Layer::CudaDriver, 0, [=] { return knows(ptr); });
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
  const CUresult code = backend::asked([&] { return backend::real_cuda().cuStreamIsCapturing(stream, &status); });
  return code == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE ? CUDA_ERROR_INVALID_VALUE : code;
}

}  // namespace

ServedDevice* served_cuda_device(Runtime& runtime, int device) noexcept {
  ServedDevice* const known = runtime.find(key_of(device));
  return known != nullptr ? known : meet_device(runtime, device);
}

Answer<CUresult> CudaDriverCalls::allocate(CUdeviceptr* ptr, std::size_t size) noexcept {
  const auto place = ptr == nullptr || size == 0 ? std::nullopt : cuda_contexts().current();
  if (!place) {
    return std::nullopt;
  }
  ServedDevice* device = served_cuda_device(runtime_, place->device);
  if (device == nullptr) [[unlikely]] {
    return std::nullopt;
  }
  const publish::Historian::CallStack stack{runtime_.historian()};
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
  alloc::DeviceCache* cache = owner_of(runtime_, ptr);
  return cache == nullptr ? std::nullopt : answer_release(cache->release(alloc::DevicePtr{ptr}));
}

Answer<CUresult> CudaDriverCalls::release_later(CUdeviceptr ptr, CUstream stream) noexcept {
  alloc::DeviceCache* cache = owner_of(runtime_, ptr);
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
  alloc::DeviceCache* cache = owner_of(runtime_, ptr);
  const auto block = cache == nullptr ? std::nullopt : cache->find(address);
  if (!block) {
    return std::nullopt;
  }
  if (!block->live) {
    return CUDA_ERROR_INVALID_VALUE;  // natively this memory would be gone
  }
  stop_sub_allocating();
  if (!block->whole_segment) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Pinned before the handle leaves: from then on another process may hold it.
  (void)cache->pin_segment(address);
  return backend::real_cuda().cuIpcGetMemHandle(handle, ptr);
}

// A program that shares one block will share others: from now on each request gets memory of its own.
void CudaDriverCalls::stop_sub_allocating() noexcept {
  runtime_.for_each_device(Layer::CudaDriver, [](ServedDevice& device) { device.cache().stop_sub_allocating(); });
}

void CudaDriverCalls::share(CUdeviceptr ptr) noexcept {
  if (alloc::DeviceCache* const cache = runtime_.owner_of(alloc::DevicePtr{ptr}); cache != nullptr) {
    stop_sub_allocating();
    (void)cache->pin_segment(alloc::DevicePtr{ptr});
  }
}

bool CudaDriverCalls::make_room() noexcept {
  bool has_more = false;
  runtime_.for_each_device(Layer::CudaDriver,
                           [&](ServedDevice& device) { has_more = device.cache().make_room() || has_more; });
  return has_more;
}

}  // namespace tidemark::runtime
