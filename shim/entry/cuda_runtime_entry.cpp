// The CUDA runtime's functions that we export. Which runtime is meant is asked of the caller: its return address lies
// in the object whose scope says which cudaMalloc it would have reached.
#include "shim/entry/cuda_runtime_entry.hpp"

#include <array>
#include <utility>

#include "shim/entry/cuda_runtime_functions.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"
#include "shim/hook/symbol_lookup.hpp"
#include "shim/runtime/call_counts.hpp"

using namespace tidemark;  // NOLINT(google-build-using-namespace): the file is about names of another library

namespace {

// act(runtime) for the runtime behind a call from `caller`; past the places for runtimes its own function; without any
// runtime the code that a program without a driver gets.
template <class Function, class Act, class... Arguments>
[[gnu::noinline, gnu::cold]] cudaError_t in_runtime_of(const char* name, const void* caller, Function, Act act,
                                                       Arguments... arguments) {
  const auto destination = backend::cuda_runtimes.of_caller(name, caller);
  if (destination.runtime != nullptr) {
    return act(*destination.runtime);
  }
  const auto function = reinterpret_cast<Function>(destination.function);
  return function == nullptr ? cudaErrorInsufficientDriver : function(arguments...);
}

}  // namespace

#define TIDEMARK_IN_CALLERS_RUNTIME(name, call, ...)                                  \
  entry::uses::name.entered();                                                        \
  const void* const caller = __builtin_return_address(0);                             \
  const auto act = [=](backend::CudaRuntime& real) { return call; };                  \
  backend::CudaRuntime* const known = backend::cuda_runtimes.of_known_caller(caller); \
  return known != nullptr ? act(*known) : in_runtime_of(#name, caller, &::name, act __VA_OPT__(, ) __VA_ARGS__)

extern "C" {

TIDEMARK_EXPORT cudaError_t cudaMalloc(void** ptr, size_t size) {
  TIDEMARK_IN_CALLERS_RUNTIME(cudaMalloc, entry::cuda_malloc(real, ptr, size), ptr, size);
}

TIDEMARK_EXPORT cudaError_t cudaFree(void* ptr) {
  TIDEMARK_IN_CALLERS_RUNTIME(cudaFree, entry::cuda_free(real, ptr), ptr);
}

TIDEMARK_EXPORT cudaError_t cudaFreeAsync(void* ptr, cudaStream_t stream) {
  TIDEMARK_IN_CALLERS_RUNTIME(cudaFreeAsync, entry::cuda_free_async(real, ptr, stream), ptr, stream);
}

TIDEMARK_EXPORT cudaError_t cudaFreeAsync_ptsz(void* ptr, cudaStream_t stream) {
  TIDEMARK_IN_CALLERS_RUNTIME(cudaFreeAsync_ptsz, entry::cuda_free_async_ptsz(real, ptr, stream), ptr, stream);
}

TIDEMARK_EXPORT cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  TIDEMARK_IN_CALLERS_RUNTIME(cudaMemGetInfo, entry::cuda_mem_get_info(real, free, total), free, total);
}

TIDEMARK_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* ptr) {
  TIDEMARK_IN_CALLERS_RUNTIME(cudaIpcGetMemHandle, entry::cuda_ipc_get_mem_handle(real, handle, ptr), handle, ptr);
}

TIDEMARK_EXPORT cudaError_t cudaDeviceReset(void) {
  TIDEMARK_IN_CALLERS_RUNTIME(cudaDeviceReset, entry::cuda_device_reset(real));
}

}  // extern "C"

namespace tidemark::entry {
namespace {

enum class Hook : std::size_t {
#define X(function) function,
  TIDEMARK_CUDA_RUNTIME_HOOKS(X)
#undef X
};

// A pointer from dlsym is called from anywhere (ctypes calls from libffi), so the caller says nothing about the
// runtime: each runtime has functions of its own.
template <std::size_t Place>
struct Bound {
  static backend::CudaRuntime& real() noexcept { return backend::cuda_runtimes.at(Place); }
  static cudaError_t cudaMalloc(void** ptr, std::size_t size) {
    uses::cudaMalloc.entered();
    return cuda_malloc(real(), ptr, size);
  }
  static cudaError_t cudaFree(void* ptr) {
    uses::cudaFree.entered();
    return cuda_free(real(), ptr);
  }
  static cudaError_t cudaFreeAsync(void* ptr, cudaStream_t stream) {
    uses::cudaFreeAsync.entered();
    return cuda_free_async(real(), ptr, stream);
  }
  static cudaError_t cudaFreeAsync_ptsz(void* ptr, cudaStream_t stream) {
    uses::cudaFreeAsync_ptsz.entered();
    return cuda_free_async_ptsz(real(), ptr, stream);
  }
  static cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    uses::cudaMemGetInfo.entered();
    return cuda_mem_get_info(real(), free, total);
  }
  static cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* ptr) {
    uses::cudaIpcGetMemHandle.entered();
    return cuda_ipc_get_mem_handle(real(), handle, ptr);
  }
  static cudaError_t cudaDeviceReset() {
    uses::cudaDeviceReset.entered();
    return cuda_device_reset(real());
  }

  static void* function(Hook which) noexcept {
    switch (which) {
#define X(name)    \
  case Hook::name: \
    return reinterpret_cast<void*>(&Bound::name);
      TIDEMARK_CUDA_RUNTIME_HOOKS(X)
#undef X
    }
    return nullptr;
  }
};

template <std::size_t... Places>
void* bound_function(std::size_t place, Hook which, std::index_sequence<Places...>) noexcept {
  void* found = nullptr;
  ((place == Places ? (found = Bound<Places>::function(which), true) : false) || ...);
  return found;
}

const char* name_of(Hook which) noexcept {
  static constexpr const char* kNames[] = {
#define X(function) #function,
      TIDEMARK_CUDA_RUNTIME_HOOKS(X)
#undef X
  };
  return kNames[static_cast<std::size_t>(which)];
}

}  // namespace

void* answer_cuda_runtime(std::size_t index, void* real) noexcept {
  const auto which = static_cast<Hook>(index);
  backend::CudaRuntime* runtime =
      hook::is_in_library(real, "libcudart") ? backend::cuda_runtimes.of_function(name_of(which), real) : nullptr;
  if (runtime == nullptr) {
    return real;
  }
  runtime::call_counts.swapped.fetch_add(1, std::memory_order_relaxed);
  return bound_function(backend::cuda_runtimes.index_of(*runtime), which,
                        std::make_index_sequence<backend::CudaRuntimes::kMost>{});
}

}  // namespace tidemark::entry
