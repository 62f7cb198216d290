// The older ABIs of stream capture: a begin without a mode, and information with fewer words. The per-thread forms act
// like the others, but for what 0 means.
#include "simulator/cuda/driver/internal_api.hpp"

using namespace cuda_sim;

namespace {

template <class Body>
CUresult on_stream(const char* name, CUstream handle, bool zero_is_thread, Body&& body) {
  return with_context(name, [&](Call& call) {
    const auto stream = call.driver.streams.find(handle, *call.context, zero_is_thread);
    return stream ? body(call.driver.captures, *stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult begin(const char* name, CUstream handle, bool zero_is_thread) {
  return on_stream(name, handle, zero_is_thread, [](Captures& captures, const Stream& stream) {
    return captures.begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  });
}

CUresult tell(const char* name, CUstream handle, bool zero_is_thread, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return on_stream(name, handle, zero_is_thread, [&](Captures& captures, const Stream& stream) {
    if (!status) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Captures::State state = captures.state_of(stream);
    *status = state.status;
    if (id) {
      *id = state.id;
    }
    return CUDA_SUCCESS;
  });
}

// The graph shows when the capture has ended, not before.
void show_no_graph(CUgraph* graph, const CUgraphNode** dependencies, size_t* count) {
  if (graph) {
    *graph = nullptr;
  }
  if (dependencies) {
    *dependencies = nullptr;
  }
  if (count) {
    *count = 0;
  }
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamBeginCapture(CUstream stream) { return begin(__func__, stream, false); }
CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamBeginCapture_ptsz(CUstream stream) { return begin(__func__, stream, true); }

CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                                        cuuint64_t* id) {
  return tell(__func__, stream, false, status, id);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus* status,
                                                             cuuint64_t* id) {
  return tell(__func__, stream, true, status, id);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status,
                                                           cuuint64_t* id, CUgraph* graph,
                                                           const CUgraphNode** dependencies, size_t* count) {
  show_no_graph(graph, dependencies, count);
  return tell(__func__, stream, false, status, id);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus* status,
                                                                cuuint64_t* id, CUgraph* graph,
                                                                const CUgraphNode** dependencies, size_t* count) {
  show_no_graph(graph, dependencies, count);
  return tell(__func__, stream, true, status, id);
}
