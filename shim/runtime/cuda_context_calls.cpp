#include "shim/runtime/cuda_context_calls.hpp"

namespace tidemark::runtime {
namespace {

template <class Act>
void for_each_cache(Runtime& runtime, Act&& act) noexcept {
  runtime.for_each_device(Layer::CudaDriver, [&](ServedDevice& device) { act(device.cache()); });
}

}  // namespace

void CudaContextCalls::leave(alloc::ContextId context) noexcept {
  for_each_cache(runtime_, [&](alloc::DeviceCache& cache) { cache.detach_context(context); });
  known_contexts.mark_ended(context);
}

void CudaContextCalls::come_back(alloc::ContextId context, CUcontext handle) noexcept {
  known_contexts.mark_alive(context, handle);
  for_each_cache(runtime_, [&](alloc::DeviceCache& cache) { cache.reattach(context); });
}

void CudaContextCalls::forget(alloc::ContextId context, CUcontext handle) noexcept {
  for_each_cache(runtime_, [&](alloc::DeviceCache& cache) { cache.forget_detached(context); });
  runtime_.kinds().end_context(context);
  known_contexts.mark_ended(context);  // again: a thread may have met it in between
  known_captures.context_ended(handle);
}

}  // namespace tidemark::runtime
