// A device's lock: a short bounded spin, then a futex (std::mutex was 1.3-1.9x slower here under contention, and an
// unbounded spin starves the holder where there are fewer cores than threads). Not recursive. 8 bytes; all zero is
// unlocked, so that a forked child can start over by construction.
//
// Unlocking is a store and then a look for sleepers: the locked instruction that does both at once costs 3 ns, three
// times in each pair of hits. A processor may look before others see the store, so that somebody falls asleep just then
// and is not seen; who sleeps therefore looks again by itself after a millisecond.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/alloc/thread_annotations.hpp"

namespace tidemark::alloc {

class TIDEMARK_CAPABILITY("mutex") DeviceLock {
 public:
  void lock() noexcept TIDEMARK_ACQUIRE() {
    if (!try_lock()) {
      lock_contended();
    }
  }
  [[nodiscard]] bool try_lock() noexcept TIDEMARK_TRY_ACQUIRE(true) {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept TIDEMARK_RELEASE() {
    state_.store(kFree, std::memory_order_release);
    if (sleeps_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake_one();
    }
  }

 private:
  enum : std::uint32_t { kFree = 0, kHeld = 1 };

  void lock_contended() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_{kFree};
  std::atomic<std::uint32_t> sleeps_{0};  // 1: somebody sleeps, or is about to
};

class TIDEMARK_SCOPED_CAPABILITY DeviceLockGuard {
 public:
  explicit DeviceLockGuard(DeviceLock& lock) noexcept TIDEMARK_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~DeviceLockGuard() TIDEMARK_RELEASE() { lock_.unlock(); }
  DeviceLockGuard(const DeviceLockGuard&) = delete;
  DeviceLockGuard& operator=(const DeviceLockGuard&) = delete;

 private:
  DeviceLock& lock_;
};

// Sleeps until `word` is seen to differ from `seen` or somebody wakes it; may return early. Never fails.
void wait_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept;
void wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace tidemark::alloc
