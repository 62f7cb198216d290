// Each text once, for ever: what ranges and domains are called. Texts have addresses that are good as handles, and stay
// good in a forked child, whichever thread was in the middle of what: nothing here waits for a lock. No heap: pages of
// its own, made on first use.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark::nvtx {

struct PooledText {
  static constexpr std::size_t kMostBytes = 120;

  std::atomic<std::uint32_t> state;
  std::uint32_t size;
  std::uint64_t hash;
  char bytes[kMostBytes];

  [[nodiscard]] std::string_view view() const noexcept { return {bytes, size}; }
};

class TextPool {
 public:
  // `most` texts, in twice as many places or more. Requires: `places` is a power of 2.
  constexpr TextPool(std::uint32_t most, std::uint32_t places) noexcept : most_(most), places_(places) {}
  TextPool(const TextPool&) = delete;
  TextPool& operator=(const TextPool&) = delete;

  // Of what is longer than a text can be the beginning is kept, up to a whole character. Null: the pool is full. Two
  // threads at once may be given two of the same text, with the same hash.
  [[nodiscard]] const PooledText* keep(std::string_view text) noexcept;

  // The text that a handle means; null: it is none of ours.
  [[nodiscard]] const PooledText* find(const void* handle) const noexcept;
  // Its number, below the number of places. Requires: it is from this pool.
  [[nodiscard]] std::uint32_t number_of(const PooledText& text) const noexcept;

 private:
  [[nodiscard]] PooledText* pages() noexcept;

  const std::uint32_t most_;
  const std::uint32_t places_;
  std::atomic<PooledText*> pages_{nullptr};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace tidemark::nvtx
