#include "shim/alloc/reuse_gate.hpp"

#include <algorithm>

namespace tidemark::alloc {

void ReuseGate::add(BlockTable& blocks, BlockIndex index) noexcept {
  Block& block = blocks[index];
  block.list_before = last_;
  block.list_after = 0;
  (last_ == 0 ? first_ : blocks[last_].list_after) = index;
  last_ = index;
  ++batch_blocks_;
  batch_bytes_ += block.size;
}

void ReuseGate::remove(BlockTable& blocks, BlockIndex index) noexcept {
  const Block& block = blocks[index];
  (block.list_before == 0 ? first_ : blocks[block.list_before].list_after) = block.list_after;
  (block.list_after == 0 ? last_ : blocks[block.list_after].list_before) = block.list_before;
  if (first_ == 0) {
    batch_blocks_ = 0;
    batch_bytes_ = 0;
  }
}

BlockIndex ReuseGate::pass(BlockTable& blocks, std::uint64_t order) noexcept {
  const BlockIndex index = first_;
  if (index == 0 || blocks[index].order > order) {
    return 0;
  }
  remove(blocks, index);
  return index;
}

void ReuseGate::add_fence(Fence fence) noexcept {
  std::size_t place = fence_count_;
  for (; place > 0 && fences_[place - 1].order > fence.order; --place) {
    fences_[place] = fences_[place - 1];
  }
  fences_[place] = fence;
  ++fence_count_;
  if (fence.order > fenced_order_) {
    fenced_order_ = fence.order;
    batch_blocks_ = 0;
    batch_bytes_ = 0;
  }
}

std::optional<ReuseGate::Fence> ReuseGate::take_fence() noexcept {
  if (fence_count_ == 0) {
    return std::nullopt;
  }
  const Fence oldest = fences_[0];
  --fence_count_;
  std::copy_n(fences_.begin() + 1, fence_count_, fences_.begin());
  return oldest;
}

std::optional<ReuseGate::Fence> ReuseGate::take_stale_fence(std::uint64_t order) noexcept {
  return fence_count_ != 0 && fences_[0].order <= order ? take_fence() : std::nullopt;
}

}  // namespace tidemark::alloc
