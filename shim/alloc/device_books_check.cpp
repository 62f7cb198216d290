// The rules that DeviceBooks keeps, checked the slow way: for tests and debugging.
#include <array>

#include "shim/alloc/device_books.hpp"

namespace tidemark::alloc {

namespace {

struct Sums {
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t pending_blocks = 0;
  std::uint64_t pending_bytes = 0;
  std::uint64_t requested_bytes = 0;
  std::uint64_t split_blocks = 0;
  std::uint64_t split_bytes = 0;
  std::uint64_t segments = 0;
  std::uint64_t reserved_bytes = 0;
};

void add(Sums& sums, const Block& block) {
  switch (block.state) {
    case BlockState::Live:
      sums.live_blocks += 1;
      sums.live_bytes += block.size;
      sums.requested_bytes += block.requested;
      break;
    case BlockState::Pending:
      sums.pending_blocks += 1;
      sums.pending_bytes += block.size;
      sums.requested_bytes += block.requested;
      break;
    default:
      if (block.before != 0 || block.after != 0) {
        sums.split_blocks += 1;
        sums.split_bytes += block.size;
      }
  }
}

const char* compare(const Sums& sums, const DeviceBasis& basis, Pool pool) {
  const auto word = [&](BasisWord small) {
    return basis.words[index_of(small) + static_cast<unsigned>(pool) * index_of(BasisWord::large_live_blocks)];
  };
  if (word(BasisWord::small_live_blocks) != sums.live_blocks || word(BasisWord::small_live_bytes) != sums.live_bytes) {
    return "live counters are the sum of live blocks";
  }
  if (word(BasisWord::small_pending_blocks) != sums.pending_blocks ||
      word(BasisWord::small_pending_bytes) != sums.pending_bytes) {
    return "pending counters are the sum of pending blocks";
  }
  if (word(BasisWord::small_requested_bytes) != sums.requested_bytes) {
    return "requested bytes are the sum over active blocks";
  }
  if (word(BasisWord::small_split_blocks) != sums.split_blocks ||
      word(BasisWord::small_split_bytes) != sums.split_bytes) {
    return "split counters are the sum of free blocks in split segments";
  }
  if (word(BasisWord::small_segments) != sums.segments ||
      word(BasisWord::small_reserved_bytes) != sums.reserved_bytes) {
    return "reserved counters are the sum of segments";
  }
  return nullptr;
}

}  // namespace

const char* DeviceBooks::check_segment(const Segment& segment, SegmentIndex index) const noexcept {
  std::uint64_t address = segment.base;
  std::uint32_t live = 0;
  BlockIndex before = 0;
  bool before_is_free = false;
  for (BlockIndex at = segment.first_block; at != 0; at = blocks_[at].after) {
    const Block& block = blocks_[at];
    if (block.address != address || block.before != before || block.segment != index || block.size == 0) {
      return "blocks tile their segment";
    }
    const bool is_free = block.state == BlockState::Free;
    if (is_free && before_is_free) {
      return "free neighbours are merged";
    }
    if (block.state == BlockState::Live) {
      ++live;
      if (!heaps_[segment.heap].detached && live_.find(blocks_, block.address) != at) {
        return "every live block is in the live map";
      }
    }
    address += block.size;
    before = at;
    before_is_free = is_free;
  }
  if (address != segment.base + segment.size) {
    return "blocks fill their segment";
  }
  if (live != segment.live_blocks) {
    return "a segment knows how many of its blocks are live";
  }
  const Block& first = blocks_[segment.first_block];
  const Heap& heap = heaps_[segment.heap];
  const bool idle = first.state == BlockState::Free && first.after == 0 && !heap.detached && !heap.poisoned;
  return idle == segment.idle ? nullptr : "idle segments are the wholly free ones";
}

const char* DeviceBooks::check() const noexcept {
  std::array<Sums, 2> sums{};
  std::uint64_t vacant = 0;
  std::uint64_t pinned = 0;
  std::uint64_t live_here = 0;
  for (HeapIndex heap_index = first_heap_; heap_index != 0; heap_index = heaps_[heap_index].next) {
    const Heap& heap = heaps_[heap_index];
    std::uint64_t indexable = 0;
    for (SegmentIndex index = heap.first_segment; index != 0; index = segments_[index].heap_after) {
      const Segment& segment = segments_[index];
      if (const char* broken = check_segment(segment, index); broken != nullptr) {
        return broken;
      }
      Sums& pool = sums[static_cast<unsigned>(segment.pool)];
      pool.segments += 1;
      pool.reserved_bytes += segment.size;
      vacant += is_vacant(segment) ? segment.size : 0;
      live_here += heap.detached ? 0 : segment.live_blocks;
      for (BlockIndex at = segment.first_block; at != 0; at = blocks_[at].after) {
        add(pool, blocks_[at]);
        if (blocks_[at].state == BlockState::Free) {
          (segment.pinned ? pinned : indexable) += blocks_[at].size;
        }
      }
    }
    std::uint64_t indexed = 0;
    for (const FreeIndex& free : heap.free) {
      free.for_each(blocks_,
                    [&](BlockIndex at) { indexed += blocks_[at].state == BlockState::Free ? blocks_[at].size : 1; });
    }
    if (indexed != indexable) {
      return "the free index holds every free block outside pinned segments";
    }
  }
  if (live_here != live_.count()) {
    return "the live map holds nothing else";
  }
  if (vacant != vacant_bytes_) {
    return "vacant bytes are the segments without a live block";
  }
  const DeviceBasis& basis = stats_.basis();
  if (pinned != pinned_bytes_ || pinned != basis[BasisWord::pinned_bytes]) {
    return "pinned bytes are the free blocks in pinned segments";
  }
  for (const Pool pool : {Pool::Small, Pool::Large}) {
    if (const char* broken = compare(sums[static_cast<unsigned>(pool)], basis, pool); broken != nullptr) {
      return broken;
    }
  }
  return nullptr;
}

}  // namespace tidemark::alloc
