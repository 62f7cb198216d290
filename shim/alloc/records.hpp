// What is known about a piece of device memory, out of band: blocks tile a segment, segments belong to a heap.
// Indices are those of NodeTable, 0 is none.
#pragma once

#include <cstdint>

#include "shim/alloc/device_types.hpp"
#include "shim/alloc/node_table.hpp"
#include "shim/alloc/size_policy.hpp"

namespace tidemark::alloc {

using BlockIndex = std::uint32_t;
using SegmentIndex = std::uint32_t;
using HeapIndex = std::uint32_t;

// Not of a character's type: the compiler would take a store of one for a store to anything.
enum class BlockState : std::uint16_t {
  Free,
  Live,
  Pending,    // freed by the program, device work not yet known to be done
  Abandoned,  // its context is gone; whoever still waits for its fence gives the record back
};

struct Block {
  std::uint64_t address;
  std::uint64_t size;
  std::uint64_t requested;
  std::uint64_t order;  // in a gate: the place of its free among all frees; free: its pool's requests when it became so
  SegmentIndex segment;
  BlockIndex before;  // neighbours in the segment
  BlockIndex after;
  BlockIndex list_before;  // in its bin, or among the heap's pending blocks
  BlockIndex list_after;
  union {
    std::uint32_t birth_beat;  // when it was handed out
    std::uint32_t next_free;   // NodeTable's
  };
  BlockState state;
  std::uint16_t bin;  // free: where its pool's index keeps it
  bool in_fence;      // pending, and a thread is waiting for exactly this one
};
static_assert(sizeof(Block) == 64, "a cache line each");

struct Segment {
  std::uint64_t base;
  std::uint64_t size;
  std::uint64_t idle_since_ns;
  ContextId context;
  HeapIndex heap;
  BlockIndex first_block;
  std::uint32_t live_blocks;
  SegmentIndex heap_before;  // all segments of the heap
  SegmentIndex heap_after;
  SegmentIndex
      idle_before;  // wholly free ones, oldest first; victims on their way to the driver are chained by idle_after
  SegmentIndex idle_after;
  SegmentIndex left;  // AddressIndex's
  SegmentIndex right;
  std::uint32_t next_free;  // NodeTable's
  Pool pool;
  bool passed_through;
  bool pinned;
  bool idle;
};

using BlockTable = NodeTable<Block>;
using SegmentTable = NodeTable<Segment>;

}  // namespace tidemark::alloc
