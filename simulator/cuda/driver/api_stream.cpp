// Streams and events as objects; what acts on a stream is in streamed_functions.inc.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

CUresult create(Call& call, CUstream* stream, unsigned flags, int priority) {
  if (!stream || flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return call.driver.streams.create(*call.context, flags, priority, *stream);
}

CUresult destroy(Call& call, CUstream handle) {
  if (const auto stream = call.driver.streams.find_created(handle)) {
    if (!stream->context->is_alive()) {
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    call.driver.captures.forget(stream->core);
  }
  return call.driver.streams.destroy(handle);
}

// Clients compare milliseconds; a tick counts as a microsecond.
constexpr float kMillisecondsATick = 0.001F;

CUresult elapsed(Call& call, float* milliseconds, CUevent start, CUevent end) {
  const auto first = call.driver.streams.find_event(start);
  const auto second = call.driver.streams.find_event(end);
  if (!milliseconds) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!first || !second || (first->flags | second->flags) & CU_EVENT_DISABLE_TIMING) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  std::int64_t ticks = 0;
  const CUresult code = to_code(call.scheduler().elapsed(first->core, second->core, ticks));
  if (code == CUDA_SUCCESS) {
    *milliseconds = static_cast<float>(ticks) * kMillisecondsATick;
  }
  return code;
}

// `ask` is what the scheduler does with an event.
CUresult with_event(const char* name, CUevent handle, sim::Status (sim::Scheduler::*ask)(sim::EventId)) {
  return with_context(name, [&](Call& call) {
    const auto event = call.driver.streams.find_event(handle);
    if (!event) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
      return code;
    }
    const CUresult code = to_code((call.scheduler().*ask)(event->core), *event->context);
    call.driver.pools.collect();
    return code;
  });
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamCreate(CUstream* stream, unsigned int flags) {
  return with_context(__func__, [&](Call& call) { return create(call, stream, flags, kLeastPriority); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return with_context(__func__, [&](Call& call) { return create(call, stream, flags, priority); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamDestroy(CUstream stream) {
  return with_driver(__func__, [&](Call& call) { return destroy(call, stream); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream) {
  return with_driver(__func__, [&](Call& call) { return destroy(call, stream); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return with_driver(__func__, [&](Call&) {
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *mode = Captures::exchange_thread_mode(*mode);
    return CUDA_SUCCESS;
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuEventCreate(CUevent* event, unsigned int flags) {
  constexpr unsigned kKnownFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
  return with_context(__func__, [&](Call& call) {
    if (!event || flags & ~(kKnownFlags | CU_EVENT_INTERPROCESS)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return flags & CU_EVENT_INTERPROCESS ? CUDA_ERROR_NOT_SUPPORTED
                                         : call.driver.streams.create_event(*call.context, flags, *event);
  });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuEventDestroy(CUevent event) {
  return with_driver(__func__, [&](Call& call) { return call.driver.streams.destroy_event(event); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuEventDestroy_v2(CUevent event) {
  return with_driver(__func__, [&](Call& call) { return call.driver.streams.destroy_event(event); });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuEventQuery(CUevent event) {
  return with_event(__func__, event, &sim::Scheduler::query_event);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  return with_event(__func__, event, &sim::Scheduler::synchronize_event);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return with_context(__func__, [&](Call& call) { return elapsed(call, milliseconds, start, end); });
}
#if CUDA_VERSION >= 12080
CUDA_SIM_EXPORT CUresult CUDAAPI cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return with_context(__func__, [&](Call& call) { return elapsed(call, milliseconds, start, end); });
}
#endif
