// Process-wide: which DeviceCache may own an address. Every free of the program asks it, so reading takes three loads
// and no lock; a pointer that no cache can own is told apart without touching any cache.
//
// A radix tree over 2 MiB granules; an entry is a set of caches (one bit each). A set bit says "may own": the cache
// itself decides. So segments of any size and alignment are right, also several small ones, of several devices, in one
// granule.
//
// Threads: any. Tables come from mmap and are never given back, so a reader needs no protection. Place it in memory
// that outlives every cache.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "shared/base/bytes.hpp"
#include "shim/alloc/device_types.hpp"

namespace tidemark::alloc {

class DeviceCache;

class SegmentMap {
 public:
  static constexpr unsigned kMaxCaches = 64;

  constexpr SegmentMap() = default;
  ~SegmentMap();
  SegmentMap(const SegmentMap&) = delete;
  SegmentMap& operator=(const SegmentMap&) = delete;

  // The one cache that may own `ptr`, or null: not ours, forward. A cache may still answer NotOurs.
  [[nodiscard]] DeviceCache* owner_of(DevicePtr ptr) const noexcept {
    const std::uint64_t owners = owners_of(ptr);
    if (owners == 0) {
      return nullptr;
    }
    // The first cache is nearly always the one: told by a branch, the answer doesn't wait for the loads that it is
    // checked by.
    if (owners == 1) [[likely]] {
      return caches_[0].load(std::memory_order_acquire);
    }
    if ((owners & (owners - 1)) == 0) {
      return caches_[static_cast<unsigned>(std::countr_zero(owners))].load(std::memory_order_acquire);
    }
    return ask_each(owners, ptr);
  }

  // For DeviceCache: a bit for itself (none left: nullopt), and its segments. add() fails only without host memory.
  [[nodiscard]] std::optional<unsigned> enroll(DeviceCache& cache) noexcept;
  void resign(unsigned bit) noexcept;
  [[nodiscard]] bool add(unsigned bit, DevicePtr base, Bytes size) noexcept;
  // Clears the granules that lie wholly inside; the others may hold more of the same cache and stay set.
  void remove(unsigned bit, DevicePtr base, Bytes size) noexcept;

 private:
  // 43 bits of granule number in three steps cover all 64-bit addresses. Untouched pages of a table cost nothing.
  static constexpr unsigned kGranuleBits = 21;
  static constexpr unsigned kLeafBits = 14;
  static constexpr unsigned kMiddleBits = 14;
  static constexpr unsigned kRootBits = 64 - kGranuleBits - kLeafBits - kMiddleBits;
  template <class Entry, unsigned Bits>
  using Table = std::array<std::atomic<Entry>, std::size_t{1} << Bits>;
  using Leaf = Table<std::uint64_t, kLeafBits>;
  using Middle = Table<Leaf*, kMiddleBits>;
  using Root = Table<Middle*, kRootBits>;

  [[nodiscard]] static constexpr std::size_t root_index(std::uint64_t granule) {
    return granule >> (kLeafBits + kMiddleBits);
  }
  [[nodiscard]] static constexpr std::size_t middle_index(std::uint64_t granule) {
    return (granule >> kLeafBits) & ((std::uint64_t{1} << kMiddleBits) - 1);
  }
  [[nodiscard]] static constexpr std::size_t leaf_index(std::uint64_t granule) {
    return granule & ((std::uint64_t{1} << kLeafBits) - 1);
  }

  [[nodiscard]] std::uint64_t owners_of(DevicePtr ptr) const noexcept {
    const std::uint64_t granule = ptr.address() >> kGranuleBits;
    const Root* root = root_.load(std::memory_order_acquire);
    const Middle* middle = root == nullptr ? nullptr : (*root)[root_index(granule)].load(std::memory_order_acquire);
    const Leaf* leaf = middle == nullptr ? nullptr : (*middle)[middle_index(granule)].load(std::memory_order_acquire);
    return leaf == nullptr ? 0 : (*leaf)[leaf_index(granule)].load(std::memory_order_acquire);
  }
  [[nodiscard]] DeviceCache* ask_each(std::uint64_t owners, DevicePtr ptr) const noexcept;
  [[nodiscard]] std::atomic<std::uint64_t>* entry_for(std::uint64_t granule) noexcept;

  std::atomic<Root*> root_{nullptr};
  std::array<std::atomic<DeviceCache*>, kMaxCaches> caches_{};
};

}  // namespace tidemark::alloc
