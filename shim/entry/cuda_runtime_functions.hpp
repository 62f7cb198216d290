// Our versions of a CUDA runtime's functions, for a given runtime. A runtime that ends in a driver we hook is only
// forwarded to: the driver's hooks account (DESIGN D1). Each looks at the layer first, so that this costs a load and
// takes no guard, and leaves by a jump: nothing of ours is on the stack when the driver is, or a cancellation.
#pragma once

#include "shim/backend/cuda_runtimes.hpp"
#include "shim/entry/intercept.hpp"
#include "shim/runtime/cuda_runtime_calls.hpp"

namespace tidemark::entry {

// Which layer owns the calls of `real` is found out by its first successful cudaMalloc: did the driver's hook run
// inside?
inline cudaError_t decide_by_allocating(backend::CudaRuntime& real, void** ptr, std::size_t size) noexcept {
  const hook::CancellationAway cancellation;
  hook::thread_state.driver_allocation_ran = false;
  const cudaError_t code = real.cudaMalloc(ptr, size);
  if (code != cudaSuccess || size == 0 || ptr == nullptr || *ptr == nullptr) {
    return code;
  }
  const hook::KeptErrno kept_errno;
  const hook::ReentryGuard guard;
  runtime::Runtime* runtime = runtime::build_runtime();
  // Where the library is off, all that is to be known is where to forward.
  const bool ran = hook::thread_state.driver_allocation_ran || runtime == nullptr;
  const auto layer = real.decide(ran ? backend::RuntimeLayer::Driver : backend::RuntimeLayer::Runtime);
  if (layer == backend::RuntimeLayer::Runtime && !ran && !guard.is_reentrant()) {
    runtime::CudaRuntimeCalls{*runtime, real}.adopt(*ptr, size);
  }
  return code;
}

[[gnu::noinline]] inline cudaError_t malloc_above_driver(backend::CudaRuntime& real, void** ptr, std::size_t size) {
  if (real.layer() == backend::RuntimeLayer::Undecided) {
    return decide_by_allocating(real, ptr, size);
  }
  return intercept<Starts::Yes>(
      [&](runtime::Runtime& runtime) {
        return runtime::CudaRuntimeCalls{runtime, real}.allocate(ptr, size);
      },
      [&] { return real.cudaMalloc(ptr, size); });
}

inline cudaError_t cuda_malloc(backend::CudaRuntime& real, void** ptr, std::size_t size) {
  return real.layer() == backend::RuntimeLayer::Driver ? real.cudaMalloc(ptr, size)
                                                       : malloc_above_driver(real, ptr, size);
}

// For the calls other than cudaMalloc: ours only where the runtime layer owns.
template <class Ours, class Theirs>
[[gnu::noinline]] cudaError_t intercept_in_runtime(backend::CudaRuntime& real, Ours ours, Theirs theirs) {
  return intercept(
      [&](runtime::Runtime& runtime) {
        runtime::CudaRuntimeCalls calls{runtime, real};
        return ours(calls);
      },
      theirs);
}
template <class Ours, class Theirs>
cudaError_t in_runtime_layer(backend::CudaRuntime& real, Ours ours, Theirs theirs) {
  return real.layer() != backend::RuntimeLayer::Runtime ? theirs() : intercept_in_runtime(real, ours, theirs);
}

// For what acts on a block: ours too where nobody knows yet what the runtime ends in. It may be the driver that has a
// segment of ours, on a way that we don't see, and would free or export it under its other blocks.
template <class Ours, class Theirs>
cudaError_t unless_in_driver_layer(backend::CudaRuntime& real, Ours ours, Theirs theirs) {
  return real.layer() == backend::RuntimeLayer::Driver ? theirs() : intercept_in_runtime(real, ours, theirs);
}

inline cudaError_t cuda_free(backend::CudaRuntime& real, void* ptr) {
  return unless_in_driver_layer(
      real, [=](auto& calls) { return calls.release(ptr); }, [=, &real] { return real.cudaFree(ptr); });
}

inline cudaError_t cuda_free_async(backend::CudaRuntime& real, void* ptr, cudaStream_t stream) {
  return unless_in_driver_layer(
      real, [=](auto& calls) { return calls.release_later(ptr, stream); },
      [=, &real] { return real.cudaFreeAsync(ptr, stream); });
}

inline cudaError_t cuda_free_async_ptsz(backend::CudaRuntime& real, void* ptr, cudaStream_t stream) {
  // This variant's null stream is the thread's own.
  cudaStream_t named = stream == nullptr ? cudaStreamPerThread : stream;
  return unless_in_driver_layer(
      real, [=](auto& calls) { return calls.release_later(ptr, named); },
      [=, &real] { return real.cudaFreeAsync_ptsz(ptr, stream); });
}

inline cudaError_t cuda_mem_get_info(backend::CudaRuntime& real, std::size_t* free, std::size_t* total) {
  return in_runtime_layer(
      real, [=](auto& calls) { return calls.memory_info(free, total); },
      [=, &real] { return real.cudaMemGetInfo(free, total); });
}

inline cudaError_t cuda_ipc_get_mem_handle(backend::CudaRuntime& real, cudaIpcMemHandle_t* handle, void* ptr) {
  return unless_in_driver_layer(
      real, [=](auto& calls) { return calls.export_memory(handle, ptr); },
      [=, &real] { return real.cudaIpcGetMemHandle(handle, ptr); });
}

inline cudaError_t cuda_device_reset(backend::CudaRuntime& real) {
  return in_runtime_layer(
      real, [](auto& calls) { return calls.reset_device(); }, [=, &real] { return real.cudaDeviceReset(); });
}

}  // namespace tidemark::entry
