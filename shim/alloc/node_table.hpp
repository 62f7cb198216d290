// Records addressed by a 32-bit index, freed ones on a stack: half the size of pointers, and a record's index stays
// while the table moves. Index 0 is none. Node must be trivially copyable and have a member `std::uint32_t next_free`,
// which the table uses while the node is free. Threads: under the device's lock.
#pragma once

#include <cstdint>

#include "shim/alloc/mapped_array.hpp"

namespace tidemark::alloc {

template <class Node>
class NodeTable {
 public:
  [[nodiscard]] Node& operator[](std::uint32_t index) { return nodes_[index]; }
  [[nodiscard]] const Node& operator[](std::uint32_t index) const { return nodes_[index]; }

  // The only step that may move the table or fail: after it, `count` calls of take() succeed.
  [[nodiscard]] bool reserve(std::uint32_t count) noexcept {
    if (spare_ >= count) {
      return true;
    }
    if (!nodes_.grow_to(std::size_t{used_} + count + 1)) {
      return false;
    }
    spare_ = free_count_ + static_cast<std::uint32_t>(nodes_.capacity() - 1 - used_);
    return true;
  }

  // Requires: a reserve() that covers it. The node is as its last owner left it.
  [[nodiscard]] std::uint32_t take() noexcept {
    --spare_;
    if (free_ != 0) {
      const std::uint32_t index = free_;
      free_ = nodes_[index].next_free;
      --free_count_;
      return index;
    }
    return ++used_;
  }

  void give(std::uint32_t index) noexcept {
    nodes_[index].next_free = free_;
    free_ = index;
    ++free_count_;
    ++spare_;
  }

  // Requires: a node of this table.
  [[nodiscard]] std::uint32_t index_of(const Node& node) const {
    return static_cast<std::uint32_t>(&node - &nodes_[0]);
  }

  // Highest index ever taken, and how many of them are taken now.
  [[nodiscard]] std::uint32_t highest() const { return used_; }
  [[nodiscard]] std::uint32_t in_use() const { return used_ - free_count_; }

 private:
  MappedArray<Node> nodes_;
  std::uint32_t used_ = 0;
  std::uint32_t free_ = 0;
  std::uint32_t free_count_ = 0;
  std::uint32_t spare_ = 0;
};

}  // namespace tidemark::alloc
