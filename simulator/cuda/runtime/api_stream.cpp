// Streams and events as objects; what acts on a stream is in streamed_functions.inc.
#include "simulator/cuda/runtime/call.hpp"

using namespace cuda_sim;

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) {
  return with_context([&](const DriverApi& driver) {
    return call(driver.stream_create, stream, static_cast<unsigned>(CU_STREAM_DEFAULT));
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return with_context([&](const DriverApi& driver) { return call(driver.stream_create, stream, flags); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                                                   int priority) {
  return with_context(
      [&](const DriverApi& driver) { return call(driver.stream_create_with_priority, stream, flags, priority); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
  return with_context([&](const DriverApi& driver) { return call(driver.stream_destroy, stream); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode) {
  static_assert(sizeof(cudaStreamCaptureMode) == sizeof(CUstreamCaptureMode));
  return with_driver([&](const DriverApi& driver) {
    return call(driver.thread_exchange_capture_mode, reinterpret_cast<CUstreamCaptureMode*>(mode));
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return with_driver([&](const DriverApi& driver) { return call(driver.graph_create, graph, flags); });
}

#if CUDART_VERSION >= 12000
CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                           unsigned long long flags) {
  return with_context(
      [&](const DriverApi& driver) { return call(driver.graph_instantiate, executable, graph, flags); });
}
#endif

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                                    unsigned long long flags) {
  return with_context(
      [&](const DriverApi& driver) { return call(driver.graph_instantiate, executable, graph, flags); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return with_driver([&](const DriverApi& driver) { return call(driver.graph_exec_destroy, executable); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
  return with_driver([&](const DriverApi& driver) { return call(driver.graph_destroy, graph); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) {
  return with_context([&](const DriverApi& driver) {
    return call(driver.event_create, event, static_cast<unsigned>(CU_EVENT_DEFAULT));
  });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return with_context([&](const DriverApi& driver) { return call(driver.event_create, event, flags); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
  return with_context([&](const DriverApi& driver) { return call(driver.event_destroy, event); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
  return with_context([&](const DriverApi& driver) { return call(driver.event_query, event); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
  return with_context([&](const DriverApi& driver) { return call(driver.event_synchronize, event); });
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return with_context(
      [&](const DriverApi& driver) { return call(driver.event_elapsed_time, milliseconds, start, end); });
}
