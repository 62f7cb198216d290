#include "shim/backend/cuda_runtimes.hpp"

#include <cstring>

#include "shim/hook/loaded_object.hpp"

namespace tidemark::backend {
namespace {

void learn(const CudaRuntime& runtime, const char* name, void* address) noexcept {
#define X(function)                        \
  if (std::strcmp(name, #function) == 0) { \
    runtime.function.learn(address);       \
    return;                                \
  }
  TIDEMARK_CUDA_RUNTIME_HOOKS(X)
#undef X
}

}  // namespace

RuntimeLayer CudaRuntime::decide(RuntimeLayer layer) noexcept {
  library_.anchor.keep();
  RuntimeLayer decided = RuntimeLayer::Undecided;
  return layer_.compare_exchange_strong(decided, layer, std::memory_order_acq_rel) ? layer : decided;
}

CudaRuntime* CudaRuntimes::of_function(const char* name, void* address) noexcept {
  const link_map* loaded = hook::object_of(address);
  if (loaded == nullptr) {
    return nullptr;
  }
  const void* object = loaded->l_ld;
  for (std::size_t i = 0; i < kMost; ++i) {
    const void* known = objects_[i].load(std::memory_order_acquire);
    if (known == nullptr) {
      if (!objects_[i].compare_exchange_strong(known, object, std::memory_order_acq_rel) && known != object) {
        continue;  // another thread put another runtime here
      }
      std::size_t count = count_.load(std::memory_order_relaxed);
      while (count < i + 1 && !count_.compare_exchange_weak(count, i + 1, std::memory_order_acq_rel)) {
      }
      known = object;
    }
    if (known == object) {
      learn(runtimes_[i], name, address);
      return &runtimes_[i];
    }
  }
  return nullptr;
}

CudaRuntimes::Destination CudaRuntimes::of_caller(const char* name, const void* caller) noexcept {
  void* real = hook::find_real_function({.name = name, .library_prefix = "libcudart", .caller = caller});
  CudaRuntime* runtime = real == nullptr ? any() : of_function(name, real);
  // Only a runtime that stays loaded is remembered by its callers.
  if (runtime != nullptr && runtime->layer() != RuntimeLayer::Undecided) {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(caller) & kAddressMask;
    place_of(address).store(address | (static_cast<std::uint64_t>(index_of(*runtime) + 1) << kAddressBits),
                            std::memory_order_release);
  }
  return {.runtime = runtime, .function = real};
}

CudaRuntime* CudaRuntimes::any() noexcept { return count() == 0 ? nullptr : &runtimes_[0]; }

}  // namespace tidemark::backend
