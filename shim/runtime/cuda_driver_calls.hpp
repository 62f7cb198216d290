// What the CUDA driver's calls become. Each answers the code that the program gets, or nothing: then the call is the
// driver's, untouched. Threads: any; only inside intercept().
#pragma once

#include <cstddef>
#include <optional>

#include "shim/backend/capture_gate.hpp"
#include "shim/backend/cuda_contexts.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

class CudaDriverCalls {
 public:
  explicit CudaDriverCalls(Runtime& runtime) noexcept : runtime_(runtime) {}

  // What is known without a runtime: contexts, and captures that are open.
  static void note_context(CUcontext context) noexcept;
  static backend::CaptureGate& capture_gate() noexcept;

  std::optional<CUresult> allocate(CUdeviceptr* ptr, std::size_t size) noexcept;

  // cuMemFree, and cuMemFreeAsync of a block of ours: forwarded, that would free the whole segment under its
  // neighbours.
  std::optional<CUresult> release(CUdeviceptr ptr) noexcept;

  std::optional<CUresult> memory_info(std::size_t* free, std::size_t* total) noexcept;

  // The driver's handle covers a whole segment. A block that is its segment's only one is exported, and the segment
  // never handed out again; a block that shares its segment is refused, since the importer would get the segment's
  // first bytes.
  std::optional<CUresult> export_memory(CUipcMemHandle* handle, CUdeviceptr ptr) noexcept;

  // Each runs `real` itself, between leaving the books and the end (or the return) of the context's memory.
  template <class Real>
  std::optional<CUresult> destroy_context(CUcontext handle, Real&& real) noexcept {
    const auto context = contexts().find(handle);
    return context ? std::optional{end_context(*context, real)} : std::nullopt;
  }
  template <class Real>
  std::optional<CUresult> reset_primary(CUdevice device, Real&& real) noexcept {
    const auto handle = backend::CudaContexts::active_primary(device);
    return handle ? destroy_context(*handle, real) : std::nullopt;
  }
  // The last release of a primary context, or detaching from one, ends it; which one was the last is only known
  // afterwards.
  template <class Real>
  std::optional<CUresult> release_primary(CUdevice device, Real&& real) noexcept {
    const auto handle = backend::CudaContexts::active_primary(device);
    const auto context = handle ? contexts().find(*handle) : std::nullopt;
    if (!context) {
      return std::nullopt;
    }
    const CUresult code = real();
    if (code == CUDA_SUCCESS && !backend::CudaContexts::active_primary(device)) {
      forget(*context);
    }
    return code;
  }
  template <class Real>
  std::optional<CUresult> detach_context(CUcontext handle, Real&& real) noexcept {
    const auto context = contexts().find(handle);
    if (!context) {
      return std::nullopt;
    }
    const CUresult code = real();
    if (code == CUDA_SUCCESS && !backend::CudaContexts::is_alive(handle)) {
      forget(*context);
    }
    return code;
  }

 private:
  static backend::CudaContexts& contexts() noexcept;

  template <class Real>
  CUresult end_context(alloc::ContextId context, Real&& real) noexcept {
    // First out of our books: from the call on, another context's allocation can be given the same addresses.
    runtime_.for_each_device(Layer::CudaDriver, [&](ServedDevice& d) { d.cache().detach_context(context); });
    const CUresult code = real();
    const bool ended = code == CUDA_SUCCESS;
    runtime_.for_each_device(Layer::CudaDriver, [&](ServedDevice& d) {
      ended ? d.cache().forget_detached(context) : d.cache().reattach(context);
    });
    if (ended) {
      contexts().mark_ended(context);
    }
    return code;
  }
  void forget(alloc::ContextId context) noexcept;

  Runtime& runtime_;
};

}  // namespace tidemark::runtime
