#include "simulator/cuda/driver/call.hpp"

namespace cuda_sim {

CUresult to_code(sim::Status status) {
  switch (status) {
    case sim::Status::Ok:
      return CUDA_SUCCESS;
    case sim::Status::InvalidValue:
      return CUDA_ERROR_INVALID_VALUE;
    case sim::Status::OutOfMemory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case sim::Status::InvalidHandle:
      return CUDA_ERROR_INVALID_HANDLE;
    case sim::Status::NotReady:
      return CUDA_ERROR_NOT_READY;
    case sim::Status::IllegalAddress:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  return CUDA_ERROR_UNKNOWN;
}

CUresult to_code(sim::Status status, Context& context) {
  if (status == sim::Status::IllegalAddress) {
    context.owner().faulted = true;
  }
  return to_code(status);
}

CUresult current_context(Context*& context) {
  context = ContextStack::top();
  if (!context) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (!context->is_alive()) {
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  return context->owner().faulted ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

CUresult record_context(Call& call, Context& context, CUevent event) {
  const std::optional<Event> recorded = call.driver.streams.find_event(event);
  if (!recorded || recorded->context != &context.owner()) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (const CUresult code = call.driver.captures.forbid_use_of(context); code != CUDA_SUCCESS) {
    return code;
  }
  return to_code(call.scheduler().record_context(recorded->core, context.core), context);
}

}  // namespace cuda_sim
