// The CUDA driver's functions that begin and end contexts and captures. Ours note what happened; the call is the
// driver's.
#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/export.hpp"
#include "shim/entry/intercept.hpp"
#include "shim/runtime/cuda_driver_calls.hpp"

using tidemark::backend::real_cuda;
using tidemark::entry::intercept;
using tidemark::runtime::CudaDriverCalls;
using tidemark::runtime::Runtime;

namespace {

// A context counts in fences from its beginning on, which is usually before the first allocation: no runtime is needed.
CUresult noted(CUresult code, const CUcontext* context) noexcept {
  const tidemark::hook::ReentryGuard guard;
  if (code == CUDA_SUCCESS && context != nullptr && !guard.is_reentrant()) {
    CudaDriverCalls::note_context(*context);
  }
  return code;
}

template <class Real>
CUresult capture(CUstream stream, Real&& real) noexcept {
  auto& gate = CudaDriverCalls::capture_gate();
  gate.announce();
  const CUresult code = real();
  code == CUDA_SUCCESS ? gate.begun(stream) : gate.withdraw();
  return code;
}

template <class Real>
CUresult end_capture(CUstream stream, Real&& real) noexcept {
  const CUresult code = real();
  CudaDriverCalls::capture_gate().ended(stream);  // an invalidated capture ends as well, with an error
  return code;
}

}  // namespace

extern "C" {

TIDEMARK_EXPORT CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return noted(real_cuda().cuCtxCreate(context, flags, device), context);
}

TIDEMARK_EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return noted(real_cuda().cuCtxCreate_v2(context, flags, device), context);
}

TIDEMARK_EXPORT CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* affinity, int count, unsigned flags,
                                        CUdevice device) {
  return noted(real_cuda().cuCtxCreate_v3(context, affinity, count, flags, device), context);
}

TIDEMARK_EXPORT CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                                        CUdevice device) {
  return noted(real_cuda().cuCtxCreate_v4(context, parameters, flags, device), context);
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return noted(real_cuda().cuDevicePrimaryCtxRetain(context, device), context);
}

TIDEMARK_EXPORT CUresult cuCtxDestroy(CUcontext context) {
  const auto real = [&] { return real_cuda().cuCtxDestroy(context); };
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.destroy_context(context, real); }, real);
}

TIDEMARK_EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  const auto real = [&] { return real_cuda().cuCtxDestroy_v2(context); };
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.destroy_context(context, real); }, real);
}

TIDEMARK_EXPORT CUresult cuCtxDetach(CUcontext context) {
  const auto real = [&] { return real_cuda().cuCtxDetach(context); };
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.detach_context(context, real); }, real);
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  const auto real = [&] { return real_cuda().cuDevicePrimaryCtxRelease(device); };
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.release_primary(device, real); }, real);
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const auto real = [&] { return real_cuda().cuDevicePrimaryCtxRelease_v2(device); };
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.release_primary(device, real); }, real);
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  const auto real = [&] { return real_cuda().cuDevicePrimaryCtxReset(device); };
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.reset_primary(device, real); }, real);
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const auto real = [&] { return real_cuda().cuDevicePrimaryCtxReset_v2(device); };
  return intercept([&](Runtime& runtime) { return CudaDriverCalls{runtime}.reset_primary(device, real); }, real);
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture(CUstream stream) {
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture(stream); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture_ptsz(CUstream stream) {
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture_ptsz(stream); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture_v2(stream, mode); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture_v2_ptsz(stream, mode); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                                     const CUgraphEdgeData* edges, size_t count,
                                                     CUstreamCaptureMode mode) {
  return capture(
      stream, [&] { return real_cuda().cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                                          const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                                          size_t count, CUstreamCaptureMode mode) {
  return capture(stream, [&] {
    return real_cuda().cuStreamBeginCaptureToGraph_ptsz(stream, graph, dependencies, edges, count, mode);
  });
}

TIDEMARK_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return end_capture(stream, [&] { return real_cuda().cuStreamEndCapture(stream, graph); });
}

TIDEMARK_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) {
  return end_capture(stream, [&] { return real_cuda().cuStreamEndCapture_ptsz(stream, graph); });
}

TIDEMARK_EXPORT CUresult cuStreamDestroy(CUstream stream) {
  return end_capture(stream, [&] { return real_cuda().cuStreamDestroy(stream); });
}

TIDEMARK_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  return end_capture(stream, [&] { return real_cuda().cuStreamDestroy_v2(stream); });
}

}  // extern "C"
