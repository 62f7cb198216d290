// One context's share of a device: its free blocks, its segments, and the blocks that wait for its work to be done.
// All zero is a fresh heap. Threads: under the device's lock.
#pragma once

#include <array>
#include <cstdint>

#include "shim/alloc/free_index.hpp"
#include "shim/alloc/records.hpp"
#include "shim/alloc/reuse_gate.hpp"

namespace tidemark::alloc {

struct Heap {
  ContextId context;
  std::array<FreeIndex, 2> free;          // by pool
  std::array<std::uint64_t, 2> requests;  // by pool; the age of a free block is counted in them
  ReuseGate gate;
  SegmentIndex first_segment;
  HeapIndex next;           // all heaps of the device
  std::uint32_t next_free;  // NodeTable's
  bool detached;            // its context is being destroyed: its addresses are not ours meanwhile
  bool poisoned;            // a fence failed: nothing is cached or handed out from here on

  [[nodiscard]] bool serves() const { return !detached && !poisoned; }
  [[nodiscard]] FreeIndex& free_in(Pool pool) { return free[static_cast<unsigned>(pool)]; }
  [[nodiscard]] const FreeIndex& free_in(Pool pool) const { return free[static_cast<unsigned>(pool)]; }
};

using HeapTable = NodeTable<Heap>;

}  // namespace tidemark::alloc
