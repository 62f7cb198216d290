// What the calls become that begin and end CUDA contexts and captures: the driver's, with our books put in order around
// them. They matter before there is a runtime too: a context is usually created before anything is allocated.
// Threads: any; only outside our own driver calls (ReentryGuard).
#pragma once

#include "shim/backend/capture_gate.hpp"
#include "shim/backend/cuda_contexts.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

// One of each in a process: a forked child of a process that used CUDA can't use it.
inline constinit backend::CudaContexts known_contexts;
inline constinit backend::CaptureGate known_captures;
[[nodiscard]] inline backend::CudaContexts& cuda_contexts() noexcept { return known_contexts; }
[[nodiscard]] inline backend::CaptureGate& capture_gate() noexcept { return known_captures; }

class CudaContextCalls {
 public:
  explicit CudaContextCalls(Runtime& runtime) noexcept : runtime_(runtime) {}

  template <class Real>
  CUresult destroy(CUcontext handle, Real&& real) noexcept {
    const auto context = cuda_contexts().find(handle);
    return context ? end(*context, handle, real) : real();
  }

  template <class Real>
  CUresult reset_primary(CUdevice device, Real&& real) noexcept {
    return destroy(cuda_contexts().primary_of(device), real);
  }

  // The last release of a primary context, or detaching from one, ends it; which one was the last is known afterwards.
  template <class Real>
  CUresult release_primary(CUdevice device, Real&& real) noexcept {
    return perhaps_end(cuda_contexts().primary_of(device), real, [&](alloc::ContextId context) {
      return backend::CudaContexts::has_primary_ended(device, context);
    });
  }
  // So does destroying a green context, if it was the last to hold its primary one.
  template <class Real>
  CUresult destroy_green(CUgreenCtx green, Real&& real) noexcept {
    // Out first: from the call on, another thread's green context can have the same handle.
    const auto known = cuda_contexts().take_green(green);
    if (!known) {
      return real();
    }
    const CUresult code = release_primary(known->device, real);
    if (code != CUDA_SUCCESS) {
      cuda_contexts().note_green(green, *known);
    } else if (known->converted != nullptr) {
      capture_gate().context_ended(known->converted);
    }
    return code;
  }
  template <class Real>
  CUresult detach(CUcontext handle, Real&& real) noexcept {
    return perhaps_end(handle, real, [&](alloc::ContextId) { return !backend::CudaContexts::is_alive(handle); });
  }

 private:
  // No helper call of ours may be inside a context while the driver destroys it (cuda.h, cuCtxDestroy).
  class HelpersAway {
   public:
    HelpersAway() noexcept { capture_gate().begin_exclusive(); }
    ~HelpersAway() { capture_gate().end_exclusive(); }
    HelpersAway(const HelpersAway&) = delete;
    HelpersAway& operator=(const HelpersAway&) = delete;
  };

  template <class Real>
  CUresult end(alloc::ContextId context, CUcontext handle, Real&& real) noexcept {
    // First out of our books: from the call on, another context's allocation can be given the same addresses.
    leave(context);
    CUresult code = CUDA_SUCCESS;
    {
      const HelpersAway away;
      code = real();
    }
    code == CUDA_SUCCESS ? forget(context, handle) : come_back(context, handle);
    return code;
  }

  template <class Real, class IsOver>
  CUresult perhaps_end(CUcontext handle, Real&& real, IsOver&& is_over) noexcept {
    const auto context = cuda_contexts().find(handle);
    if (!context) {
      return real();
    }
    const HelpersAway away;
    const CUresult code = real();
    if (code == CUDA_SUCCESS && is_over(*context)) {
      leave(*context);
      forget(*context, handle);
    }
    return code;
  }

  void leave(alloc::ContextId context) noexcept;
  void come_back(alloc::ContextId context, CUcontext handle) noexcept;
  void forget(alloc::ContextId context, CUcontext handle) noexcept;

  Runtime& runtime_;
};

}  // namespace tidemark::runtime
