#include "shim/alloc/free_index.hpp"

#include <algorithm>

namespace tidemark::alloc {

std::uint64_t FreeIndex::largest(const BlockTable& blocks) const noexcept {
  for (unsigned word = kWords; word-- > 0;) {
    if (occupied_[word] == 0) {
      continue;
    }
    const unsigned bin = word * 64 + static_cast<unsigned>(std::bit_width(occupied_[word])) - 1;
    std::uint64_t largest = 0;
    for (BlockIndex index = heads_[bin]; index != 0; index = blocks[index].list_after) {
      largest = std::max(largest, blocks[index].size);
    }
    return largest;
  }
  return 0;
}

}  // namespace tidemark::alloc
