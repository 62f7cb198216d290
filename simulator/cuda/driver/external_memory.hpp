// Memory of other interfaces that comes by descriptor: a VMM export, any other file that can be mapped, or, for a
// descriptor that can't be, bytes that stand for what would be there. It takes no capacity here, as it is another's.
// Any thread may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "simulator/core/machine.hpp"
#include "simulator/cuda/driver/contexts.hpp"

namespace cuda_sim {

class ExternalMemory {
 public:
  ExternalMemory(sim::Machine& machine, const std::vector<int>& devices) : machine_(machine), devices_(devices) {}

  // The descriptor becomes ours if this succeeds.
  CUresult import(const Context& context, int fd, std::uint64_t size, CUexternalMemory& out);
  CUresult map(const Context& context, CUexternalMemory handle, std::uint64_t offset, std::uint64_t size,
               CUdeviceptr& out);
  // What is mapped stays.
  CUresult destroy(CUexternalMemory handle);

  [[nodiscard]] bool owns(CUdeviceptr base) const;
  // Requires: owns(base); the caller has waited for the work that uses it.
  void unmap(CUdeviceptr base);
  // The context's life has ended, and its mappings with it.
  void forget(const Context& context);

 private:
  struct Import {
    int fd = -1;
    std::uint64_t size = 0;
    const Context* context = nullptr;
  };
  struct Buffer {
    int device = 0;  // the machine's index
    const Context* context = nullptr;
  };

  sim::Machine& machine_;
  const std::vector<int>& devices_;
  mutable std::mutex mutex_;
  std::map<CUexternalMemory, Import> imports_;
  std::map<CUdeviceptr, Buffer> buffers_;
  std::uintptr_t last_handle_ = 0x5DA0'0000'0000'0000;  // no address
};

}  // namespace cuda_sim
