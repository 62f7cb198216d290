#include "shim/backend/cuda_fences.hpp"

#include "shim/backend/cuda_driver_backend.hpp"

namespace tidemark::backend {

CudaFences::Mark* CudaFences::mark_of(alloc::FenceToken token) noexcept {
  const auto number = static_cast<std::uint64_t>(token);
  return number == 0 || number > marks_.size() ? nullptr : &marks_[number - 1];
}

// An event belongs to the context that made it, and is gone with it.
CUresult CudaFences::record_in(const CudaContexts& contexts, Event& event, CUcontext handle,
                               alloc::ContextId context) noexcept {
  if (event.event == nullptr || event.context != context) {
    if (event.event != nullptr && contexts.handle_of(event.context) != nullptr) {
      (void)real_cuda().cuEventDestroy_v2(event.event);
    }
    event = {};
    const ContextScope scope{handle};
    if (scope.status() != CUDA_SUCCESS) {
      return scope.status();
    }
    if (const CUresult made = real_cuda().cuEventCreate(&event.event, CU_EVENT_DISABLE_TIMING); made != CUDA_SUCCESS) {
      return made;
    }
    event.context = context;
  }
  return real_cuda().cuCtxRecordEvent(handle, event.event);
}

Result<alloc::FenceToken> CudaFences::record(const CudaContexts& contexts, alloc::ContextId owner) noexcept {
  if (!real_cuda().cuCtxRecordEvent.exists()) {
    return Error{ErrorCode::Unsupported};
  }
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    Mark& mark = marks_[i];
    bool is_taken = false;
    if (!mark.is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acq_rel)) {
      continue;
    }
    mark.count = 0;
    bool has_room = true;
    CUresult code = CUDA_SUCCESS;
    contexts.for_each_user(owner, [&](alloc::ContextId context, CUcontext handle) {
      has_room = mark.count < kMostContexts;
      const CUresult recorded = has_room ? record_in(contexts, mark.events[mark.count], handle, context) : CUDA_SUCCESS;
      if (has_room && recorded == CUDA_SUCCESS) {
        ++mark.count;
      } else if (context == owner) {
        code = recorded;
      }
      return has_room && code == CUDA_SUCCESS;
    });
    if (has_room && code == CUDA_SUCCESS) {
      return alloc::FenceToken{i + 1};
    }
    mark.is_taken.store(false, std::memory_order_release);
    return has_room ? cuda_status(code).error() : Error{ErrorCode::Unsupported};
  }
  return Error{ErrorCode::Busy};
}

Result<bool> CudaFences::is_done(const CudaContexts& contexts, alloc::ContextId owner,
                                 alloc::FenceToken token) noexcept {
  Mark* mark = mark_of(token);
  if (mark == nullptr || !mark->is_taken.load(std::memory_order_acquire)) {
    return Error{ErrorCode::InvalidValue};
  }
  for (std::size_t i = 0; i < mark->count; ++i) {
    const Event& event = mark->events[i];
    if (contexts.handle_of(event.context) == nullptr) {
      continue;  // a context that ended has no work left
    }
    const CUresult code = real_cuda().cuEventQuery(event.event);
    if (code == CUDA_ERROR_NOT_READY) {
      return false;
    }
    if (code != CUDA_SUCCESS && event.context == owner) {
      return cuda_status(code).error();
    }
  }
  mark->is_taken.store(false, std::memory_order_release);
  return true;
}

void CudaFences::drop(alloc::FenceToken token) noexcept {
  if (Mark* mark = mark_of(token); mark != nullptr) {
    mark->is_taken.store(false, std::memory_order_release);
  }
}

}  // namespace tidemark::backend
