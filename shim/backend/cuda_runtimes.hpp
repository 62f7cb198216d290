// The CUDA runtimes of the process. There can be several (a linked one, one that a plug-in brought, a private static
// copy), so what is known is known per real cudaMalloc address (DESIGN D1).
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "shim/hook/real_symbol.hpp"

namespace tidemark::backend {

// Exported by us; found by name through dlsym. Sorted.
#define TIDEMARK_CUDA_RUNTIME_HOOKS(X) \
  X(cudaDeviceReset)                   \
  X(cudaFree)                          \
  X(cudaFreeAsync)                     \
  X(cudaFreeAsync_ptsz)                \
  X(cudaIpcGetMemHandle)               \
  X(cudaMalloc)                        \
  X(cudaMemGetInfo)

// Only called by us.
#define TIDEMARK_CUDA_RUNTIME_HELPERS(X) \
  X(cudaDeviceGetPCIBusId)               \
  X(cudaDeviceSynchronize)               \
  X(cudaGetDevice)                       \
  X(cudaGetDeviceProperties)             \
  X(cudaGetLastError)                    \
  X(cudaMemsetAsync)                     \
  X(cudaPeekAtLastError)                 \
  X(cudaPointerGetAttributes)            \
  X(cudaSetDevice)                       \
  X(cudaStreamCreateWithFlags)           \
  X(cudaStreamDestroy)                   \
  X(cudaStreamIsCapturing)               \
  X(cudaStreamSynchronize)

enum class RuntimeLayer : int {
  Undecided,
  Driver,   // ends in a driver that we hook: its calls are forwarded, the driver's hooks account
  Runtime,  // ends elsewhere: its calls are served here
};

// One runtime. Its functions are looked for beside its cudaMalloc only, never in another runtime.
class CudaRuntime {
 public:
  constexpr CudaRuntime() = default;

#define X(name) hook::RealSymbolOf<decltype(&::name)> name{#name, library_};

 private:
  hook::DriverLibrary<cudaError_t> library_{"libcudart", cudaErrorInsufficientDriver};

 public:
  TIDEMARK_CUDA_RUNTIME_HOOKS(X)
  TIDEMARK_CUDA_RUNTIME_HELPERS(X)
#undef X

  [[nodiscard]] RuntimeLayer layer() const noexcept { return layer_.load(std::memory_order_acquire); }
  // The first decision stands; answers what it is. Also keeps the runtime loaded: it was used, and is remembered.
  RuntimeLayer decide(RuntimeLayer layer) noexcept;

 private:
  friend class CudaRuntimes;
  std::atomic<RuntimeLayer> layer_{RuntimeLayer::Undecided};
};

// Threads: any. Entries are only added; a runtime past the last place is forwarded to, never served.
class CudaRuntimes {
 public:
  static constexpr std::size_t kMost = 8;

  // The runtime of a real function `address` named `name`; null when all places are taken.
  CudaRuntime* of_function(const char* name, void* address) noexcept;

  // Where the code at `caller` (a return address) would have got without us: a runtime, or only its function when all
  // places are taken; neither: there is no runtime.
  struct Destination {
    CudaRuntime* runtime = nullptr;
    void* function = nullptr;
  };
  Destination of_caller(const char* name, const void* caller) noexcept;

  // The same for a caller that was met before and whose runtime stays; null for any other.
  [[nodiscard]] CudaRuntime* of_known_caller(const void* caller) noexcept {
    const auto address = reinterpret_cast<std::uint64_t>(caller) & kAddressMask;
    const std::uint64_t entry = place_of(address).load(std::memory_order_acquire);
    return (entry & kAddressMask) == address && entry != 0 ? &runtimes_[(entry >> kAddressBits) - 1] : nullptr;
  }

  // Any runtime that was met before: for calls that come from nowhere in particular.
  CudaRuntime* any() noexcept;

  [[nodiscard]] std::size_t index_of(const CudaRuntime& runtime) const noexcept {
    return static_cast<std::size_t>(&runtime - runtimes_.data());
  }
  [[nodiscard]] CudaRuntime& at(std::size_t index) noexcept { return runtimes_[index]; }
  [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  static constexpr unsigned kAddressBits = 48;
  static constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kAddressBits) - 1;

  // Call sites of one function lie close together: a multiplication spreads them over the table.
  [[nodiscard]] std::atomic<std::uint64_t>& place_of(std::uint64_t address) noexcept {
    return by_caller_[(address * 0x9E3779B97F4A7C15) >> 54];
  }

  std::array<CudaRuntime, kMost> runtimes_{};
  std::array<std::atomic<const void*>, kMost> objects_{};  // address of its dynamic section: the identity of a runtime
  std::atomic<std::size_t> count_{0};
  // caller -> runtime, direct-mapped: address in the low 48 bits, index + 1 above (one word, so that no lock is
  // needed).
  std::array<std::atomic<std::uint64_t>, 1024> by_caller_{};
};

inline constinit CudaRuntimes cuda_runtimes;

}  // namespace tidemark::backend
