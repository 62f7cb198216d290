// Stream-ordered allocation: the default pool of each device, those of the program, and those that were imported. A
// block freed in stream order is given back to the device when the work before the free is done and somebody looks: at
// the next allocation, memory query or wait. A pool holds nothing back beyond that. Any thread may call.
#pragma once

#include <cuda.h>

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "simulator/core/machine.hpp"
#include "simulator/cuda/driver/graph_memory.hpp"
#include "simulator/cuda/driver/streams.hpp"

namespace cuda_sim {

class Pools {
 public:
  // `devices`: as in Contexts.
  Pools(sim::Machine& machine, const std::vector<int>& devices, GraphMemory& graphs);

  struct Usage {
    std::size_t used = 0;
    std::size_t highest = 0;
  };
  static constexpr CUdevice kOnTheHost = -1;
  struct Pool {
    CUdevice device = 0;  // or kOnTheHost, whose memory the host and every device reach
    CUmemAllocationHandleType handle_types = CU_MEM_HANDLE_TYPE_NONE;
    std::size_t most = 0;      // 0: the device's capacity
    bool is_imported = false;  // another process's: nothing is allocated from it here
    Usage usage{};
    std::uint64_t release_threshold = 0;  // kept and told, without effect
    std::map<CUdevice, CUmemAccess_flags> access{};
    sim::ContextId owner{};  // memory of a pool belongs to no context of the program
    bool is_destroyed = false;
  };

  [[nodiscard]] CUmemoryPool default_pool(CUdevice device) const;
  // The one that the device's streams allocate from.
  [[nodiscard]] CUmemoryPool current_pool(CUdevice device) const;
  CUresult set_current(CUdevice device, CUmemoryPool pool);
  // Nothing for a destroyed one.
  [[nodiscard]] std::optional<Pool> find(CUmemoryPool pool) const;
  CUmemoryPool create(const Pool& pool);
  // Its blocks live on. INVALID_VALUE for a default one.
  CUresult destroy(CUmemoryPool pool);
  // Requires: the pool is there.
  void set_access(CUmemoryPool pool, CUdevice device, CUmemAccess_flags flags);

  CUresult allocate(CUmemoryPool pool, std::size_t size, sim::Address& out);
  // Frees `base` when the stream gets there. Also takes memory of cuMemAlloc and of graphs. INVALID_VALUE for what is
  // no base of a live allocation, or is being freed.
  CUresult free_in_order(const Stream& stream, sim::Address base);
  // Requires: owns(base), and it is not being freed. Frees it at once.
  void free_now(sim::Address base);

  // NULL: of no pool.
  [[nodiscard]] CUmemoryPool pool_of(sim::Address base) const;
  [[nodiscard]] bool owns(sim::Address base) const { return pool_of(base) != nullptr; }
  [[nodiscard]] bool is_being_freed(sim::Address base) const;
  // Gives back what is done.
  void collect();
  // Waits for all that is being freed, and gives it back.
  void drain();

  // Requires for both: the pool is there.
  void reset_highest(CUmemoryPool pool);
  void set_release_threshold(CUmemoryPool pool, std::uint64_t bytes);

 private:
  struct Block {
    CUmemoryPool pool = nullptr;
    std::size_t size = 0;
  };
  [[nodiscard]] bool take(Pool& pool, std::size_t size, sim::Address& out);
  [[nodiscard]] bool map_on_host(std::size_t size, sim::Address& out);
  void unmap_on_host(std::size_t size, sim::Address base);
  void give_back(sim::Address base);

  sim::Machine& machine_;
  const std::vector<int>& devices_;
  GraphMemory& graphs_;
  mutable std::mutex mutex_;
  std::map<CUmemoryPool, Pool> pools_;
  std::vector<CUmemoryPool> current_;
  std::map<sim::Address, Block> blocks_;
  std::map<sim::Address, sim::EventId> being_freed_;
  std::uintptr_t last_handle_;
};

}  // namespace cuda_sim
