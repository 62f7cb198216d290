#include "shim/backend/cuda_contexts.hpp"

namespace tidemark::backend {

// A context that this thread was not in a moment ago.
std::optional<CudaPlace> CudaContexts::meet(CUcontext handle) noexcept {
  const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
  const auto place = place_of_current(handle);
  if (place) {
    remembered_place = {.handle = handle, .epoch = epoch, .place = *place};
  }
  return place;
}

std::optional<CudaPlace> CudaContexts::place_of_current(CUcontext handle) noexcept {
  CUdevice device = 0;
  const auto id = id_of(handle);
  if (!id || real_cuda().cuCtxGetDevice(&device) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  if (handle_of(*id) == handle) {
    return CudaPlace{device, *id};
  }
  // A primary context may have become active behind our back (a door that we don't see, or a green context of its);
  // anything else we saw begin.
  const auto primary = active_primary(device);
  if (!primary || (*primary != handle && !green_.is_converted(handle))) {
    return std::nullopt;
  }
  const auto primary_id = *primary == handle ? id : id_of(*primary);
  return primary_id && remember(*primary, *primary_id, device) ? std::optional{CudaPlace{device, *primary_id}}
                                                               : std::nullopt;
}

std::optional<CudaGreenContexts::Known> CudaContexts::take_green(CUgreenCtx green) noexcept {
  const auto known = green_.take(green);
  epoch_.fetch_add(1, std::memory_order_acq_rel);  // its handle may come again for another device's
  return known;
}

// Before CUDA 12 there are no ids: the handle must do, and a context's end is then known only from the calls we see.
std::optional<alloc::ContextId> CudaContexts::id_of(CUcontext handle) noexcept {
  if (!real_cuda().cuCtxGetId.exists()) {
    return alloc::ContextId{reinterpret_cast<std::uint64_t>(handle)};
  }
  unsigned long long id = 0;
  return real_cuda().cuCtxGetId(handle, &id) == CUDA_SUCCESS ? std::optional{alloc::ContextId{id}} : std::nullopt;
}

void CudaContexts::note(CUcontext handle, CUdevice device) noexcept {
  if (const auto id = handle == nullptr ? std::nullopt : id_of(handle)) {
    (void)remember(handle, *id, device);
  }
}

std::optional<alloc::ContextId> CudaContexts::find(CUcontext handle) const noexcept {
  const std::size_t count = handle == nullptr ? 0 : count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (entries_[i].live_handle() == handle) {
      return entries_[i].context();
    }
  }
  return std::nullopt;
}

CUcontext CudaContexts::handle_of(alloc::ContextId context) const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = entries_[i];
    if (entry.context() == context) {
      CUcontext const handle = entry.live_handle();
      // The place may have been taken over between the two reads.
      return entry.context() == context ? handle : nullptr;
    }
  }
  return nullptr;
}

int CudaContexts::device_of(alloc::ContextId context) const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (entries_[i].context() == context) {
      return entries_[i].device.load(std::memory_order_acquire);
    }
  }
  return -1;
}

void CudaContexts::mark_ended(alloc::ContextId context) noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (entries_[i].context() == context) {
      entries_[i].handle.store(nullptr, std::memory_order_release);
      entries_[i].is_taken.store(false, std::memory_order_release);
    }
  }
  epoch_.fetch_add(1, std::memory_order_acq_rel);
}

void CudaContexts::mark_alive(alloc::ContextId context, CUcontext handle) noexcept {
  (void)remember(handle, context, device_of(context));
}

bool CudaContexts::is_alive(CUcontext handle) noexcept {
  unsigned version = 0;
  return real_cuda().cuCtxGetApiVersion(handle, &version) == CUDA_SUCCESS;
}

// Retaining an active primary context only counts, so the pair of calls changes nothing.
std::optional<CUcontext> CudaContexts::active_primary(CUdevice device) noexcept {
  unsigned flags = 0;
  int active = 0;
  if (!real_cuda().cuDevicePrimaryCtxRelease_v2.exists() ||
      real_cuda().cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || active == 0) {
    return std::nullopt;
  }
  CUcontext handle = nullptr;
  if (real_cuda().cuDevicePrimaryCtxRetain(&handle, device) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  (void)real_cuda().cuDevicePrimaryCtxRelease_v2(device);
  return handle;
}

// Two threads may enter the same context twice; every user copes with that, since both entries say the same.
bool CudaContexts::remember(CUcontext handle, alloc::ContextId id, int device) noexcept {
  if (handle_of(id) == handle) {
    return true;
  }
  for (std::size_t i = 0; i < kMost; ++i) {
    Entry& entry = entries_[i];
    bool is_taken = false;
    if (!entry.is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acq_rel)) {
      continue;
    }
    entry.id.store(static_cast<std::uint64_t>(id), std::memory_order_release);
    entry.device.store(device, std::memory_order_release);
    entry.handle.store(handle, std::memory_order_release);
    std::size_t count = count_.load(std::memory_order_relaxed);
    while (count < i + 1 && !count_.compare_exchange_weak(count, i + 1, std::memory_order_acq_rel)) {
    }
    return true;
  }
  return false;
}

ContextScope::ContextScope(CUcontext wanted) noexcept {
  CUcontext outer = nullptr;
  status_ = real_cuda().cuCtxGetCurrent(&outer);
  if (status_ == CUDA_SUCCESS && outer != wanted) {
    status_ = real_cuda().cuCtxPushCurrent_v2(wanted);
    pushed_ = status_ == CUDA_SUCCESS;
  }
}

ContextScope::~ContextScope() {
  if (pushed_) {
    CUcontext popped = nullptr;
    (void)real_cuda().cuCtxPopCurrent_v2(&popped);
  }
}

}  // namespace tidemark::backend
