// Stream-ordered allocation: the default pool of each device. A block freed in stream order is given back to the device
// when the work before the free is done and somebody looks: at the next allocation, memory query or wait. The pool
// holds nothing back beyond that. Any thread may call.
#pragma once

#include <cuda.h>

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "simulator/core/machine.hpp"
#include "simulator/cuda/driver/streams.hpp"

namespace cuda_sim {

class Pools {
 public:
  // `devices`: as in Contexts.
  Pools(sim::Machine& machine, const std::vector<int>& devices);

  [[nodiscard]] CUmemoryPool default_pool(CUdevice device);
  [[nodiscard]] std::optional<CUdevice> device_of(CUmemoryPool pool) const;

  CUresult allocate(CUdevice device, std::size_t size, sim::Address& out);
  // Frees `base` when the stream gets there. Also takes memory of cuMemAlloc. INVALID_VALUE for what is no base of a
  // live allocation, or is being freed.
  CUresult free_in_order(const Stream& stream, sim::Address base);
  // Requires: not being freed. Forgets a pool block that is about to be freed at once.
  void forget(sim::Address base);

  [[nodiscard]] bool owns(sim::Address base) const;
  [[nodiscard]] bool is_being_freed(sim::Address base) const;
  // Gives back what is done.
  void collect();
  // Waits for all that is being freed, and gives it back.
  void drain();

  struct Usage {
    std::size_t used = 0;
    std::size_t highest = 0;
  };
  [[nodiscard]] Usage usage(CUdevice device) const;
  void reset_highest(CUdevice device);
  std::uint64_t release_threshold(CUdevice device) const;
  void set_release_threshold(CUdevice device, std::uint64_t bytes);

 private:
  struct Pool {
    sim::ContextId owner{};  // memory of a pool belongs to no context of the program
    Usage usage{};
    std::uint64_t release_threshold = 0;  // kept and told, without effect
  };
  struct Block {
    CUdevice device = 0;
    std::size_t size = 0;
  };
  void give_back(sim::Address base);

  sim::Machine& machine_;
  const std::vector<int>& devices_;
  mutable std::mutex mutex_;
  std::vector<Pool> pools_;
  std::map<sim::Address, Block> blocks_;
  std::map<sim::Address, sim::EventId> being_freed_;
};

}  // namespace cuda_sim
