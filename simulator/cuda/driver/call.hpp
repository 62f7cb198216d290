// How every driver function begins and ends: initialised or not, the clock's tick, an injected fault, a trace line, and
// for most of them a current context that is alive and in health.
//
//   CUDA_SIM_EXPORT CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream) {
//     return with_context(__func__, [&](Call& call) { return call.driver.streams.destroy(stream); });
//   }
#pragma once

#include <cuda.h>

#include <new>

#include "simulator/core/call_gate.hpp"
#include "simulator/cuda/driver/driver.hpp"
#include "simulator/cuda/export.hpp"

namespace cuda_sim {

// What a function knows of its call. `context` only in with_context().
struct Call {
  Driver& driver;
  sim::CallScope& scope;
  Context* context = nullptr;

  [[nodiscard]] sim::Scheduler& scheduler() const { return driver.machine.scheduler(); }
};

CUresult to_code(sim::Status status);
// The same, and a context that met an illegal address stays ill.
CUresult to_code(sim::Status status, Context& context);

// The current context, or why the call can't have one.
CUresult current_context(Context*& context);

// All work of `context` so far, a primary one's with that of its green contexts.
CUresult record_context(Call& call, Context& context, CUevent event);

template <class Body>
CUresult with_driver(const char* name, Body&& body, CUresult injected = CUDA_ERROR_UNKNOWN) {
  Driver* driver = Driver::find();
  if (!driver) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  sim::CallScope scope{driver->gate, name};
  if (const auto& fault = scope.injected()) {
    return scope.done(fault->has_value() ? static_cast<CUresult>(**fault) : injected);
  }
  if (sim::Scheduler::in_host_function()) {
    return scope.done(CUDA_ERROR_NOT_PERMITTED);
  }
  Call call{*driver, scope};
  try {
    return scope.done(body(call));
  } catch (const std::bad_alloc&) {
    return scope.done(CUDA_ERROR_OUT_OF_MEMORY);
  }
}

template <class Body>
CUresult with_context(const char* name, Body&& body, CUresult injected = CUDA_ERROR_UNKNOWN) {
  return with_driver(
      name,
      [&](Call& call) {
        const CUresult none = current_context(call.context);
        return none == CUDA_SUCCESS ? body(call) : none;
      },
      injected);
}

}  // namespace cuda_sim
