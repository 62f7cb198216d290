// Finds what an append-only table already has: open addressing, at most half full, in private pages.
#pragma once

#include <sys/mman.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tidemark::history {

class HashSlots {
 public:
  HashSlots() = default;
  // Room for `most` numbers; empty without memory, and finds nothing then.
  explicit HashSlots(std::uint64_t most) noexcept {
    const std::size_t size = std::bit_ceil(static_cast<std::size_t>(most * 2 + 2));
    void* pages = ::mmap(nullptr, size * sizeof(Slot), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages != MAP_FAILED) {
      slots_ = static_cast<Slot*>(pages);
      size_ = size;
    }
  }
  HashSlots(HashSlots&& other) noexcept
      : slots_(std::exchange(other.slots_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HashSlots& operator=(HashSlots&& other) noexcept {
    std::swap(slots_, other.slots_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HashSlots() {
    if (slots_ != nullptr) {
      ::munmap(slots_, size_ * sizeof(Slot));
    }
  }

  // The number that was put with this hash and passes `is_same(number)`; 0: none.
  template <class IsSame>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, IsSame&& is_same) const noexcept {
    for (std::size_t at = hash & mask(); size_ != 0 && slots_[at].number != 0; at = (at + 1) & mask()) {
      if (slots_[at].hash == hash && is_same(slots_[at].number)) {
        return slots_[at].number;
      }
    }
    return 0;
  }

  // Requires: number > 0, and fewer than `most` so far.
  void put(std::uint64_t hash, std::uint32_t number) noexcept {
    if (size_ == 0) {
      return;
    }
    std::size_t at = hash & mask();
    while (slots_[at].number != 0) {
      at = (at + 1) & mask();
    }
    slots_[at] = {hash, number};
  }

 private:
  struct Slot {
    std::uint64_t hash;
    std::uint32_t number;
  };

  [[nodiscard]] std::size_t mask() const noexcept { return size_ - 1; }

  Slot* slots_ = nullptr;
  std::size_t size_ = 0;  // a power of two
};

// The finaliser of splitmix64: every bit of the word reaches every bit of the sum.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t sum, std::uint64_t word) noexcept {
  sum += word + 0x9E3779B97F4A7C15;
  sum = (sum ^ (sum >> 30)) * 0xBF58476D1CE4E5B9;
  sum = (sum ^ (sum >> 27)) * 0x94D049BB133111EB;
  return sum ^ (sum >> 31);
}

}  // namespace tidemark::history
