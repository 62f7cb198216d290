// The free blocks of one pool by size: 8 bins a doubling, a bitmap over the bins, each bin a list with the last freed
// in front. To place a request, up to 4 blocks of its own bin are looked at for the tightest fit, else the first in the
// next bin that has any: searching only upward wastes a tenth of the memory, the look at four recovers all of best
// fit's benefit (DESIGN §4). Holds indices only; Block's list links and `size` are its storage. All zero is empty.
// Threads: under the device's lock.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "shim/alloc/records.hpp"

namespace tidemark::alloc {

class FreeIndex {
 public:
  void insert(BlockTable& blocks, BlockIndex index) noexcept {
    Block& block = blocks[index];
    const unsigned bin = bin_of(block.size);
    const BlockIndex head = heads_[bin];
    block.bin = static_cast<std::uint16_t>(bin);
    block.list_before = 0;
    block.list_after = head;
    if (head != 0) {
      blocks[head].list_before = index;
    }
    heads_[bin] = index;
    occupied_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  }

  void remove(BlockTable& blocks, BlockIndex index) noexcept {
    const Block& block = blocks[index];
    if (block.list_after != 0) {
      blocks[block.list_after].list_before = block.list_before;
    }
    if (block.list_before != 0) {
      blocks[block.list_before].list_after = block.list_after;
      return;
    }
    const unsigned bin = block.bin;
    heads_[bin] = block.list_after;
    if (block.list_after == 0) {
      occupied_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
    }
  }

  // Keeps its place where the bin stays the same, which is what a large rest that grows and shrinks by small blocks
  // does.
  void resize(BlockTable& blocks, BlockIndex index, std::uint64_t size) noexcept {
    if (bin_of(size) == blocks[index].bin) {
      blocks[index].size = size;
      return;
    }
    remove(blocks, index);
    blocks[index].size = size;
    insert(blocks, index);
  }

  // A block of `least` to `most` bytes, or 0.
  [[nodiscard]] BlockIndex find(const BlockTable& blocks, std::uint64_t least, std::uint64_t most) const noexcept {
    const unsigned own = bin_of(least);
    if (const BlockIndex head = heads_[own]; head != 0) {
      if (const BlockIndex fit = tightest(blocks, head, least, most); fit != 0) {
        return fit;
      }
    }
    for (unsigned bin = next_occupied(own + 1); bin < kBins; bin = next_occupied(bin + 1)) {
      const BlockIndex head = heads_[bin];
      if (blocks[head].size <= most) [[likely]] {
        return head;
      }
      if (const BlockIndex fit = tightest(blocks, blocks[head].list_after, least, most); fit != 0) {
        return fit;
      }
      if (bin >= bin_of(most)) {
        break;
      }
    }
    return 0;
  }

  // The size of the largest block, 0 if there is none.
  [[nodiscard]] std::uint64_t largest(const BlockTable& blocks) const noexcept;

  template <class Visit>
  void for_each(const BlockTable& blocks, Visit&& visit) const {
    for (unsigned bin = next_occupied(0); bin < kBins; bin = next_occupied(bin + 1)) {
      for (BlockIndex index = heads_[bin]; index != 0; index = blocks[index].list_after) {
        visit(index);
      }
    }
  }

 private:
  static constexpr unsigned kWords = 7;
  static constexpr unsigned kBins = kWords * 64;  // enough for 2^60 B in units of 512 B
  static constexpr int kLooks = 4;

  [[nodiscard]] static constexpr unsigned bin_of(std::uint64_t size) {
    const std::uint64_t units = size / kUnit;
    if (units < 8) {
      return static_cast<unsigned>(units);
    }
    const unsigned exponent = static_cast<unsigned>(std::bit_width(units)) - 1;
    const unsigned bin = (exponent - 2) * 8 + static_cast<unsigned>((units >> (exponent - 3)) & 7);
    return bin < kBins ? bin : kBins - 1;
  }

  [[nodiscard]] unsigned next_occupied(unsigned bin) const {
    unsigned word = bin / 64;
    if (word >= kWords) {
      return kBins;
    }
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (bin % 64));
    while (bits == 0) {
      if (++word == kWords) {
        return kBins;
      }
      bits = occupied_[word];
    }
    return word * 64 + static_cast<unsigned>(std::countr_zero(bits));
  }

  [[nodiscard]] static BlockIndex tightest(const BlockTable& blocks, BlockIndex index, std::uint64_t least,
                                           std::uint64_t most) noexcept {
    BlockIndex best = 0;
    std::uint64_t best_size = most;
    for (int look = 0; index != 0 && look < kLooks; ++look, index = blocks[index].list_after) {
      const std::uint64_t size = blocks[index].size;
      if (size >= least && (best == 0 ? size <= best_size : size < best_size)) {
        best = index;
        best_size = size;
      }
    }
    return best;
  }

  std::array<std::uint64_t, kWords> occupied_;
  std::array<BlockIndex, kBins> heads_;
};

}  // namespace tidemark::alloc
