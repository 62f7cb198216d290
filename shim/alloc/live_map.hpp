// From a pointer that the program holds to its block: open addressing with linear probing, at most half full, 8 bytes
// an entry (32 bits of the address's hash and the block's index; the block itself has the address, and is needed next
// anyway). Threads: under the device's lock.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "shim/alloc/mapped_array.hpp"
#include "shim/alloc/probing.hpp"
#include "shim/alloc/records.hpp"

namespace tidemark::alloc {

class LiveMap {
 public:
  // The only step that may fail or take long: after it, one insert() succeeds.
  [[nodiscard]] bool reserve() noexcept { return (std::size_t{count_} + 1) * 2 <= size_ || grow(); }

  // Requires: reserve(), and the address is not in the map.
  void insert(std::uint64_t address, BlockIndex block) noexcept {
    place(entry(hash_of(address), block));
    ++count_;
  }

  [[nodiscard]] BlockIndex find(const BlockTable& blocks, std::uint64_t address) const noexcept {
    const std::size_t slot = slot_of(blocks, address);
    return slot == kNowhere ? 0 : block_of(entries_[slot]);
  }

  // Takes the address out; 0 if it isn't there.
  BlockIndex take(const BlockTable& blocks, std::uint64_t address) noexcept {
    const std::size_t slot = slot_of(blocks, address);
    if (slot == kNowhere) {
      return 0;
    }
    const BlockIndex block = block_of(entries_[slot]);
    close_gap(slot);
    --count_;
    return block;
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  // Multiplying by 2^64 / golden ratio spreads the multiples of 512 evenly over the top bits.
  [[nodiscard]] static std::uint32_t hash_of(std::uint64_t address) {
    return static_cast<std::uint32_t>(((address >> 9) * 0x9E3779B97F4A7C15U) >> 32);
  }
  [[nodiscard]] static std::uint64_t entry(std::uint32_t hash, BlockIndex block) {
    return (std::uint64_t{hash} << 32) | block;
  }
  [[nodiscard]] static std::uint32_t hash_in(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32); }
  [[nodiscard]] static BlockIndex block_of(std::uint64_t entry) { return static_cast<BlockIndex>(entry); }
  [[nodiscard]] std::size_t home_of(std::uint32_t hash) const { return hash >> shift_; }
  [[nodiscard]] std::size_t next(std::size_t slot) const { return (slot + 1) & (size_ - 1); }

  [[nodiscard]] std::size_t slot_of(const BlockTable& blocks, std::uint64_t address) const noexcept {
    if (size_ == 0) {
      return kNowhere;
    }
    const std::uint32_t hash = hash_of(address);
    for (std::size_t slot = home_of(hash);; slot = next(slot)) {
      const std::uint64_t found = entries_[slot];
      if (found == 0) {
        return kNowhere;
      }
      if (hash_in(found) == hash && blocks[block_of(found)].address == address) {
        return slot;
      }
    }
  }

  void place(std::uint64_t entry) noexcept {
    std::size_t slot = home_of(hash_in(entry));
    while (entries_[slot] != 0) {
      slot = next(slot);
    }
    entries_[slot] = entry;
  }

  void close_gap(std::size_t gap) noexcept {
    const std::size_t empty = alloc::close_gap(
        gap, size_, [this](std::size_t slot) { return entries_[slot] == 0; },
        [this](std::size_t slot) { return home_of(hash_in(entries_[slot])); },
        [this](std::size_t to, std::size_t from) { entries_[to] = entries_[from]; });
    entries_[empty] = 0;
  }

  [[nodiscard]] bool grow() noexcept;

  MappedArray<std::uint64_t> entries_;
  std::size_t size_ = 0;  // a power of two
  unsigned shift_ = 32;
  std::uint32_t count_ = 0;
};

}  // namespace tidemark::alloc
