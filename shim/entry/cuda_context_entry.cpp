// The CUDA driver's functions that begin and end contexts and captures. The call is the driver's; ours keep the books.
#include <cerrno>

#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"
#include "shim/entry/intercept.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/cuda_context_calls.hpp"

using tidemark::backend::CudaContexts;
using tidemark::backend::real_cuda;
using tidemark::entry::beside;
using tidemark::hook::CancellationAway;
using tidemark::hook::ReentryGuard;
using tidemark::runtime::capture_gate;
using tidemark::runtime::cuda_contexts;
using tidemark::runtime::CudaContextCalls;

namespace uses = tidemark::entry::uses;

namespace {

// A context counts in fences from its beginning on.
CUresult noted(CUresult code, const CUcontext* context, CUdevice device, CudaContexts::Kind kind) noexcept {
  if (code == CUDA_SUCCESS && context != nullptr) {
    beside([&] { cuda_contexts().note(*context, device, kind); });
  }
  return code;
}
CUresult created(CUresult code, const CUcontext* context, CUdevice device) noexcept {
  return noted(code, context, device, CudaContexts::Kind::Created);
}

// It holds its device's primary context, whose work counts in fences from now on.
CUresult green_noted(CUresult code, const CUgreenCtx* green, CUdevice device) noexcept {
  if (code == CUDA_SUCCESS && green != nullptr) {
    beside([&] {
      cuda_contexts().note_green(*green, {.device = device, .converted = nullptr});
      cuda_contexts().note(CudaContexts::active_primary(device).value_or(nullptr), device, CudaContexts::Kind::Primary);
    });
  }
  return code;
}

// ours(CudaContextCalls&, real) makes the driver's call itself, between what it does to our books.
template <class Ours, class Theirs>
CUresult ending(Ours&& ours, Theirs&& theirs) noexcept {
  const CancellationAway cancellation;
  const ReentryGuard guard;
  auto* runtime = guard.is_reentrant() ? nullptr : tidemark::runtime::build_runtime();
  if (runtime == nullptr) {
    return theirs();
  }
  int left_by_driver = errno;
  const auto real = [&] {
    const CUresult code = theirs();
    left_by_driver = errno;
    return code;
  };
  CudaContextCalls calls{*runtime};
  const CUresult code = ours(calls, real);
  errno = left_by_driver;
  return code;
}

template <class Real>
CUresult capture(CUstream stream, Real&& real) noexcept {
  const CancellationAway cancellation;
  CUcontext context = nullptr;
  beside([&] {
    (void)real_cuda().cuCtxGetCurrent(&context);
    capture_gate().announce();
  });
  const CUresult code = real();
  beside([&] { code == CUDA_SUCCESS ? capture_gate().begun(stream, context) : capture_gate().withdraw(); });
  return code;
}

// An invalidated capture ends as well, with an error; one that another thread began goes on.
CUresult capture_ended(CUresult code, CUstream stream) noexcept {
  if (code != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
    beside([&] { capture_gate().ended(stream); });
  }
  return code;
}

CUresult stream_destroyed(CUresult code, CUstream stream) noexcept {
  if (code == CUDA_SUCCESS) {
    beside([&] { capture_gate().ended(stream); });
  }
  return code;
}

}  // namespace

extern "C" {

TIDEMARK_EXPORT CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  uses::cuCtxCreate.entered();
  return created(real_cuda().cuCtxCreate(context, flags, device), context, device);
}

TIDEMARK_EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  uses::cuCtxCreate_v2.entered();
  return created(real_cuda().cuCtxCreate_v2(context, flags, device), context, device);
}

TIDEMARK_EXPORT CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* affinity, int count, unsigned flags,
                                        CUdevice device) {
  uses::cuCtxCreate_v3.entered();
  return created(real_cuda().cuCtxCreate_v3(context, affinity, count, flags, device), context, device);
}

TIDEMARK_EXPORT CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                                        CUdevice device) {
  uses::cuCtxCreate_v4.entered();
  return created(real_cuda().cuCtxCreate_v4(context, parameters, flags, device), context, device);
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  uses::cuDevicePrimaryCtxRetain.entered();
  return noted(real_cuda().cuDevicePrimaryCtxRetain(context, device), context, device, CudaContexts::Kind::Primary);
}

TIDEMARK_EXPORT CUresult cuGreenCtxCreate(CUgreenCtx* green, CUdevResourceDesc resources, CUdevice device,
                                          unsigned flags) {
  uses::cuGreenCtxCreate.entered();
  return green_noted(real_cuda().cuGreenCtxCreate(green, resources, device, flags), green, device);
}

TIDEMARK_EXPORT CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx green) {
  uses::cuCtxFromGreenCtx.entered();
  const CUresult code = real_cuda().cuCtxFromGreenCtx(context, green);
  if (code == CUDA_SUCCESS && context != nullptr) {
    beside([&] { cuda_contexts().note_converted(green, *context); });
  }
  return code;
}

TIDEMARK_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx green) {
  uses::cuGreenCtxDestroy.entered();
  return ending([&](auto& calls, auto& real) { return calls.destroy_green(green, real); },
                [&] { return real_cuda().cuGreenCtxDestroy(green); });
}

TIDEMARK_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  uses::cuCtxEnablePeerAccess.entered();
  // Before the call: work may use the peer's memory from its return on.
  beside([] { cuda_contexts().note_peer_access(); });
  return real_cuda().cuCtxEnablePeerAccess(peer, flags);
}

TIDEMARK_EXPORT CUresult cuCtxDestroy(CUcontext context) {
  uses::cuCtxDestroy.entered();
  return ending([&](auto& calls, auto& real) { return calls.destroy(context, real); },
                [&] { return real_cuda().cuCtxDestroy(context); });
}

TIDEMARK_EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  uses::cuCtxDestroy_v2.entered();
  return ending([&](auto& calls, auto& real) { return calls.destroy(context, real); },
                [&] { return real_cuda().cuCtxDestroy_v2(context); });
}

TIDEMARK_EXPORT CUresult cuCtxDetach(CUcontext context) {
  uses::cuCtxDetach.entered();
  return ending([&](auto& calls, auto& real) { return calls.detach(context, real); },
                [&] { return real_cuda().cuCtxDetach(context); });
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  uses::cuDevicePrimaryCtxRelease.entered();
  return ending([&](auto& calls, auto& real) { return calls.release_primary(device, real); },
                [&] { return real_cuda().cuDevicePrimaryCtxRelease(device); });
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  uses::cuDevicePrimaryCtxRelease_v2.entered();
  return ending([&](auto& calls, auto& real) { return calls.release_primary(device, real); },
                [&] { return real_cuda().cuDevicePrimaryCtxRelease_v2(device); });
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  uses::cuDevicePrimaryCtxReset.entered();
  return ending([&](auto& calls, auto& real) { return calls.reset_primary(device, real); },
                [&] { return real_cuda().cuDevicePrimaryCtxReset(device); });
}

TIDEMARK_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  uses::cuDevicePrimaryCtxReset_v2.entered();
  return ending([&](auto& calls, auto& real) { return calls.reset_primary(device, real); },
                [&] { return real_cuda().cuDevicePrimaryCtxReset_v2(device); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture(CUstream stream) {
  uses::cuStreamBeginCapture.entered();
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture(stream); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture_ptsz(CUstream stream) {
  uses::cuStreamBeginCapture_ptsz.entered();
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture_ptsz(stream); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  uses::cuStreamBeginCapture_v2.entered();
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture_v2(stream, mode); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  uses::cuStreamBeginCapture_v2_ptsz.entered();
  return capture(stream, [&] { return real_cuda().cuStreamBeginCapture_v2_ptsz(stream, mode); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                                     const CUgraphEdgeData* edges, size_t count,
                                                     CUstreamCaptureMode mode) {
  uses::cuStreamBeginCaptureToGraph.entered();
  return capture(
      stream, [&] { return real_cuda().cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode); });
}

TIDEMARK_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                                          const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                                          size_t count, CUstreamCaptureMode mode) {
  uses::cuStreamBeginCaptureToGraph_ptsz.entered();
  return capture(stream, [&] {
    return real_cuda().cuStreamBeginCaptureToGraph_ptsz(stream, graph, dependencies, edges, count, mode);
  });
}

TIDEMARK_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  uses::cuStreamEndCapture.entered();
  return capture_ended(real_cuda().cuStreamEndCapture(stream, graph), stream);
}

TIDEMARK_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) {
  uses::cuStreamEndCapture_ptsz.entered();
  return capture_ended(real_cuda().cuStreamEndCapture_ptsz(stream, graph), stream);
}

TIDEMARK_EXPORT CUresult cuStreamDestroy(CUstream stream) {
  uses::cuStreamDestroy.entered();
  return stream_destroyed(real_cuda().cuStreamDestroy(stream), stream);
}

TIDEMARK_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  uses::cuStreamDestroy_v2.entered();
  return stream_destroyed(real_cuda().cuStreamDestroy_v2(stream), stream);
}

}  // extern "C"
