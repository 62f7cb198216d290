// Memory of graphs: an allocation node has its address from the start, and memory behind it from each launch to the
// free. Addresses are never given back, so that a stale one is always noticed. Any thread may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "simulator/core/machine.hpp"

namespace cuda_sim {

class GraphMemory {
 public:
  // `devices`: as in Contexts.
  GraphMemory(sim::Machine& machine, const std::vector<int>& devices)
      : machine_(machine), devices_(devices), usage_(devices.size()) {}

  // An address for a node. Requires: size > 0.
  CUresult reserve(CUdevice device, std::size_t size, CUdeviceptr& out);
  [[nodiscard]] bool has(CUdeviceptr base) const;
  [[nodiscard]] bool is_live(CUdeviceptr base) const;

  // The launch of an allocation node. Requires: has(base), not live.
  CUresult begin(CUdeviceptr base);
  // The free of it; false: it was not live.
  bool end(CUdeviceptr base);

  struct Usage {
    std::size_t used = 0;
    std::size_t highest = 0;
  };
  [[nodiscard]] Usage usage(CUdevice device) const;
  void reset_highest(CUdevice device);

 private:
  struct Block {
    CUdevice device = 0;
    std::size_t size = 0;
    bool is_live = false;
  };

  sim::Machine& machine_;
  const std::vector<int>& devices_;
  mutable std::mutex mutex_;
  std::map<CUdeviceptr, Block> blocks_;
  std::vector<Usage> usage_;
};

}  // namespace cuda_sim
