// The sequence lock: one writer that never waits, any number of readers in other processes that retry.
//
// Writer: sequence odd, release fence, the words (relaxed), sequence even (release). The fence is what keeps the words
// from becoming visible before the odd value; a release store of the odd value would not. Reader: even sequence
// (acquire), the words (relaxed), acquire fence, the same sequence again; otherwise what was copied is thrown away.
// Costs 1 ns over the stores themselves for one line (research: +0.9 ns for 4 of 24 words); a watching reader adds
// nothing measurable at 60 Hz.
//
// One writer at a time for each sequence, by a lock in the writer's private memory. The writer keeps the sequence's
// value privately too: it never reads shared memory back.
//
// TSan knows no fences, so there the words themselves are released and acquired; same guarantees, no false reports.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <span>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "shared/base/device_basis.hpp"
#include "shared/segment/layout.hpp"

#if defined(__SANITIZE_THREAD__)
#define TIDEMARK_SEQUENCE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TIDEMARK_SEQUENCE_TSAN 1
#endif
#endif

namespace tidemark::segment {

#ifdef TIDEMARK_SEQUENCE_TSAN
inline constexpr auto kStoreOrder = std::memory_order_release;
inline constexpr auto kLoadOrder = std::memory_order_acquire;
inline void fence_before_words() noexcept {}
inline void fence_after_words() noexcept {}
#else
inline constexpr auto kStoreOrder = std::memory_order_relaxed;
inline constexpr auto kLoadOrder = std::memory_order_relaxed;
inline void fence_before_words() noexcept { std::atomic_thread_fence(std::memory_order_release); }
inline void fence_after_words() noexcept { std::atomic_thread_fence(std::memory_order_acquire); }
#endif

inline void store_word(Word& word, std::uint64_t value) noexcept { word.store(value, kStoreOrder); }

// From construction to destruction readers retry. `own` is the writer's private copy of the sequence.
class WriteSection {
 public:
  WriteSection(Word& sequence, std::uint64_t& own) noexcept : sequence_(sequence), own_(own), even_(own + 2) {
    sequence_.store(even_ - 1, std::memory_order_relaxed);
    fence_before_words();
  }
  WriteSection(const WriteSection&) = delete;
  WriteSection& operator=(const WriteSection&) = delete;
  ~WriteSection() {
    own_ = even_;
    sequence_.store(even_, std::memory_order_release);
  }

 private:
  Word& sequence_;
  std::uint64_t& own_;
  const std::uint64_t even_;
};

#if defined(__SSE2__) && !defined(TIDEMARK_SEQUENCE_TSAN)
// Two words at a time, which halves what a hit publishes with. The sequence is what keeps a reader from believing half
// a line; x86 keeps these stores in their place before and after it as it keeps any others.
inline void store_line(Word* to, const std::uint64_t* from) noexcept {
  static_assert(sizeof(Word) == sizeof(std::uint64_t) && kWordsPerLine % 2 == 0);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kWordsPerLine; i += 2) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
}
#else
inline void store_line(Word* to, const std::uint64_t* from) noexcept {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kWordsPerLine; ++i) {
    store_word(to[i], from[i]);
  }
}
#endif

// Stores the lines of `basis` that are in `changed`.
inline void store_lines(std::span<Word, kBasisWords> words, const DeviceBasis& basis, BasisLines changed) noexcept {
  for (changed &= kAllBasisLines; changed != 0; changed &= changed - 1) {
    const auto first = static_cast<std::size_t>(std::countr_zero(changed)) * kWordsPerLine;
    store_line(&words[first], &basis.words[first]);
  }
}

// One attempt to copy `words` that belong to `sequence`; false: a write was under way, what is in `copy` is worthless.
template <std::size_t Count>
[[nodiscard]] bool try_copy(const Word& sequence, std::span<const Word, Count> words,
                            std::span<std::uint64_t, Count> copy) noexcept {
  const std::uint64_t before = sequence.load(std::memory_order_acquire);
  if ((before & 1) != 0) {
    return false;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    copy[i] = words[i].load(kLoadOrder);
  }
  fence_after_words();
  return sequence.load(std::memory_order_relaxed) == before;
}

// How long a reader tries before it takes what is there.
struct ReadBudget {
  // For a writer that stands still in the middle: 25 ms outlast a preempted one's time slice on most machines.
  std::uint64_t still_ns = 25'000'000;
  // For one that publishes without a pause, and is outrun when it is interrupted. Measured with one update every 25 ns:
  // 78 % of all snapshots succeed within 25 ms; with one every 60 ns 99.5 %.
  std::uint64_t busy_ns = 100'000'000;
  std::uint32_t tries_before_sleep = 64;
};

}  // namespace tidemark::segment
