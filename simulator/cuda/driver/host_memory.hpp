// Pinned host memory: what cuMemHostAlloc gave out and what cuMemHostRegister was told of. The device sees it at the
// host's address. Any thread may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "simulator/cuda/driver/contexts.hpp"

namespace cuda_sim {

struct HostRange {
  std::uintptr_t base = 0;
  std::size_t size = 0;  // as asked for
  unsigned flags = 0;
  Context* context = nullptr;
  bool is_registered = false;  // the program's own memory
};

class HostMemory {
 public:
  // Page-aligned, zeroed. Requires: size > 0.
  CUresult allocate(Context& context, std::size_t size, unsigned flags, void*& out);
  CUresult free(void* pointer);
  // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED where any of it is pinned already.
  CUresult add(Context& context, void* pointer, std::size_t size, unsigned flags);
  CUresult remove(void* pointer);

  // The range around an address (interior ones too).
  [[nodiscard]] std::optional<HostRange> find(const void* pointer) const;
  // The context's life has ended: what it allocated is freed, what it registered forgotten.
  void forget(const Context& context);

 private:
  using Ranges = std::map<std::uintptr_t, HostRange>;
  [[nodiscard]] Ranges::const_iterator around(std::uintptr_t address) const;

  mutable std::mutex mutex_;
  Ranges ranges_;
};

}  // namespace cuda_sim
