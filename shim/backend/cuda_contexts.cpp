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
  if (!id || asked([&] { return real_cuda().cuCtxGetDevice(&device); }) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  if (handle_of(*id) == handle) {
    return CudaPlace{device, *id};
  }
  // A primary context may have become active behind our back (a door that we don't see, or a green context of its);
  // anything else we saw begin.
  CUcontext const primary = active_primary(device).value_or(nullptr);
  if (primary == nullptr || (primary != handle && !green_.is_converted(handle))) {
    return std::nullopt;
  }
  const auto primary_id = primary == handle ? id : id_of(primary);
  return primary_id && remember(primary, *primary_id, device, Kind::Primary)
             ? std::optional{CudaPlace{device, *primary_id}}
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
  return asked([&] { return real_cuda().cuCtxGetId(handle, &id); }) == CUDA_SUCCESS
             ? std::optional{alloc::ContextId{id}}
             : std::nullopt;
}

void CudaContexts::note(CUcontext handle, CUdevice device, Kind kind) noexcept {
  if (const auto id = handle == nullptr ? std::nullopt : id_of(handle)) {
    (void)remember(handle, *id, device, kind);
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

CUcontext CudaContexts::primary_of(CUdevice device) const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = entries_[i];
    CUcontext const handle = entry.live_handle();
    if (handle != nullptr && entry.device.load(std::memory_order_acquire) == device &&
        entry.kind.load(std::memory_order_acquire) == Kind::Primary) {
      return handle;
    }
  }
  return nullptr;
}

const CudaContexts::Entry* CudaContexts::find_entry(alloc::ContextId context) const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (entries_[i].context() == context) {
      return &entries_[i];
    }
  }
  return nullptr;
}

int CudaContexts::device_of(alloc::ContextId context) const noexcept {
  const Entry* const entry = find_entry(context);
  return entry == nullptr ? -1 : entry->device.load(std::memory_order_acquire);
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
  const Entry* const entry = find_entry(context);
  (void)remember(handle, context, device_of(context),
                 entry == nullptr ? Kind::Created : entry->kind.load(std::memory_order_acquire));
}

bool CudaContexts::is_alive(CUcontext handle) noexcept {
  unsigned version = 0;
  return asked([&] { return real_cuda().cuCtxGetApiVersion(handle, &version); }) == CUDA_SUCCESS;
}

// Retaining an active primary context only counts, so the pair of calls changes nothing.
std::optional<CUcontext> CudaContexts::active_primary(CUdevice device) noexcept {
  unsigned flags = 0;
  int active = 0;
  if (!real_cuda().cuDevicePrimaryCtxRelease_v2.exists() ||
      asked([&] { return real_cuda().cuDevicePrimaryCtxGetState(device, &flags, &active); }) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  CUcontext handle = nullptr;
  if (active == 0) {
    return handle;
  }
  if (asked([&] { return real_cuda().cuDevicePrimaryCtxRetain(&handle, device); }) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  (void)real_cuda().cuDevicePrimaryCtxRelease_v2(device);
  return handle;
}

// A context wrongly thought over would take the program's live memory out of our books: its frees of blocks that share
// a segment would then fail. One wrongly thought alive is noticed when its addresses come again.
bool CudaContexts::has_primary_ended(CUdevice device, alloc::ContextId context) noexcept {
  const auto primary = active_primary(device);
  if (!primary || *primary == nullptr) {
    return primary.has_value();
  }
  const auto id = id_of(*primary);
  return id && *id != context;
}

// Two threads may enter the same context twice; every user copes with that, since both entries say the same.
bool CudaContexts::remember(CUcontext handle, alloc::ContextId id, int device, Kind kind) noexcept {
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
    entry.kind.store(kind, std::memory_order_release);
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
  status_ = asked([&] { return real_cuda().cuCtxGetCurrent(&outer); });
  if (status_ == CUDA_SUCCESS && outer != wanted) {
    status_ = asked([&] { return real_cuda().cuCtxPushCurrent_v2(wanted); });
    pushed_ = status_ == CUDA_SUCCESS;
  }
}

ContextScope::~ContextScope() {
  if (pushed_) {
    CUcontext popped = nullptr;
    (void)asked([&] { return real_cuda().cuCtxPopCurrent_v2(&popped); });
  }
}

}  // namespace tidemark::backend
