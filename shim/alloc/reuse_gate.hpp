// Freed blocks of one context that may not be handed out yet, in the order of their frees, and the fences set behind
// some of them.
//
// Every free has a number (`order`). Once all work submitted before free n is known to be done, every block up to n may
// pass: after a wait that began after free n, or when a fence recorded after it is done. A strict free outside a
// capture never comes here: its thread holds the block itself while it waits.
//
// Makes no driver call itself. All zero is empty. Threads: under the device's lock; a fence is polled without it, by
// the one thread that took it out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "shim/alloc/records.hpp"
#include "shim/alloc/upstream.hpp"

namespace tidemark::alloc {

class ReuseGate {
 public:
  struct Fence {
    FenceToken token{};
    std::uint64_t order = 0;  // covers every free up to here
  };

  // Frees since the last fence that make a new one worth its driver call.
  static constexpr std::uint32_t kBatchBlocks = 32;
  static constexpr std::uint64_t kBatchBytes = 32 << 20;

  void add(BlockTable& blocks, BlockIndex index) noexcept;
  // Takes out a block that is not to be handed out again: it goes with its segment.
  void remove(BlockTable& blocks, BlockIndex index) noexcept;
  // The first block that `order` lets pass, taken out, or 0.
  [[nodiscard]] BlockIndex pass(BlockTable& blocks, std::uint64_t order) noexcept;

  [[nodiscard]] bool empty() const { return first_ == 0; }
  [[nodiscard]] BlockIndex first() const { return first_; }  // the rest by Block::list_after, in the order of the frees
  // Requires: not empty.
  [[nodiscard]] std::uint64_t oldest_free(const BlockTable& blocks) const { return blocks[first_].order; }
  [[nodiscard]] bool has_unfenced(const BlockTable& blocks) const {
    return last_ != 0 && blocks[last_].order > fenced_order_;
  }
  [[nodiscard]] bool is_batch_full() const { return batch_blocks_ >= kBatchBlocks || batch_bytes_ >= kBatchBytes; }
  [[nodiscard]] bool has_fence() const { return fence_count_ != 0; }
  [[nodiscard]] bool has_room_for_fence() const { return fence_count_ < fences_.size(); }

  // Requires: has_room_for_fence(). Fences may arrive out of order, when two threads record at once.
  void add_fence(Fence fence) noexcept;
  // The oldest fence, to be polled by the caller alone, and added again if it isn't done.
  [[nodiscard]] std::optional<Fence> take_fence() noexcept;
  // No fence is set any more (the caller dropped them all): what waits needs a new one.
  void forget_fences() noexcept { fenced_order_ = 0; }
  // A fence that says nothing new once everything up to `order` is done: to be dropped by the caller.
  [[nodiscard]] std::optional<Fence> take_stale_fence(std::uint64_t order) noexcept;

 private:
  BlockIndex first_;
  BlockIndex last_;
  std::uint32_t batch_blocks_;  // freed since the last fence
  std::uint64_t batch_bytes_;
  std::uint64_t fenced_order_;  // the newest free behind which a fence was set
  std::uint32_t fence_count_;
  std::array<Fence, 16> fences_;  // oldest first
};

}  // namespace tidemark::alloc
