#include "shim/backend/cuda_fences.hpp"

#include "shim/backend/cuda_driver_backend.hpp"
#include "shim/backend/unasked.hpp"

namespace tidemark::backend {

CudaFences::Mark* CudaFences::mark_of(alloc::FenceToken token) noexcept {
  const auto number = static_cast<std::uint64_t>(token);
  return number == 0 || number > marks_.size() ? nullptr : &marks_[number - 1];
}

// An event belongs to the context that made it, and is gone with it.
Status CudaFences::record_in(const CudaContexts& contexts, Event& event, CUcontext handle,
                             alloc::ContextId context) noexcept {
  if (event.event == nullptr || event.context != context) {
    if (event.event != nullptr && contexts.handle_of(event.context) != nullptr) {
      (void)real_cuda().cuEventDestroy_v2(event.event);
    }
    event = {};
    const ContextScope scope{handle};
    const CUresult made = scope.status() == CUDA_SUCCESS
                              ? asked([&] { return real_cuda().cuEventCreate(&event.event, CU_EVENT_DISABLE_TIMING); })
                              : scope.status();
    if (made != CUDA_SUCCESS) {
      event = {};
      return unasked(cuda_failure(made));
    }
    event.context = context;
  }
  return cuda_status(asked([&] { return real_cuda().cuCtxRecordEvent(handle, event.event); }));
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
    Status status;
    contexts.for_each_user(owner, [&](alloc::ContextId context, CUcontext handle) {
      if (mark.count >= kMostContexts) {
        status = Error{ErrorCode::Unsupported};
        return false;
      }
      const Status recorded = record_in(contexts, mark.events[mark.count], handle, context);
      if (recorded.ok()) {
        ++mark.count;
      } else if (context == owner || recorded.error().code == ErrorCode::Busy) {
        status = recorded;  // another context's failure means that no work is left there, unless it could not be asked
      }
      return status.ok();
    });
    if (status.ok()) {
      return alloc::FenceToken{i + 1};
    }
    mark.is_taken.store(false, std::memory_order_release);
    return status.error();
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
    CUresult code = real_cuda().cuEventQuery(event.event);
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY) {
      code = real_cuda().cuEventQuery(event.event);  // as asked() does
    }
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
