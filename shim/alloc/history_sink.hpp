// The seam beside StatsSink: whoever wants to hear of each block and segment. Off is a null pointer.
#pragma once

#include <array>
#include <cstdint>

#include "shared/base/device_basis.hpp"
#include "shim/alloc/records.hpp"

namespace tidemark::alloc {

enum class BookAction : std::uint8_t {
  Alloc,
  FreeRequested,
  FreeCompleted,
  SegmentAlloc,
  SegmentFree,
  OutOfMemory,
  PeakReset,
  SegmentPinned,  // not an event of the program's memory: what is known of the segment has changed
};

struct BookEvent {
  BookAction action;
  // As if its free had never begun: Alloc and SegmentAlloc of what a driver refused to take back.
  bool is_undone = false;
  BlockIndex block = 0;      // whose; of a completed free the number may be given back already
  SegmentIndex segment = 0;  // its segment; 0: of none
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  BlockIndex changed = 0;               // besides: whose place, size or state is another one now; 0: none
  std::array<BlockIndex, 2> gone{};     // are no blocks any more
  std::uint64_t device_free_bytes = 0;  // of an out-of-memory
};

// Threads: under the device's lock. Must not block, allocate, log or call back.
class HistorySink {
 public:
  virtual ~HistorySink() = default;

  // After every change that the tables of blocks and segments see, in order. The tables are as they are after it.
  virtual void note(const BookEvent& event, const BlockTable& blocks, const SegmentTable& segments) noexcept = 0;
};

// Is shown everything that a device has at one moment; same rules.
class BookVisitor {
 public:
  virtual ~BookVisitor() = default;

  virtual void visit_segment(SegmentIndex index, const Segment& segment) noexcept = 0;
  virtual void visit_block(BlockIndex index, const Block& block) noexcept = 0;
  // Last.
  virtual void visit_counters(const DeviceBasis& basis) noexcept = 0;
};

// How far the numbers of blocks and segments go: all are below.
struct BookNumbers {
  std::uint32_t blocks = 0;
  std::uint32_t segments = 0;
};

}  // namespace tidemark::alloc
