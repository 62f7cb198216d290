#include "shim/alloc/device_lock.hpp"

#include <cerrno>
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tidemark::alloc {

namespace {

// About 2 us: longer than a hit holds the lock, shorter than a sleep and a wake cost.
constexpr int kSpins = 200;

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// The program's call must not see an errno of ours.
void futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  const int saved = errno;
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  errno = saved;
}

}  // namespace

void DeviceLock::lock_contended() noexcept {
  for (int spin = 0; spin < kSpins; ++spin) {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    if (seen == kFree &&
        state_.compare_exchange_weak(seen, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
      return;
    }
    relax();
  }
  // From here on the word says that somebody waits; whoever takes it so may wake one too many, never one too few.
  while (state_.exchange(kHeldWithWaiters, std::memory_order_acquire) != kFree) {
    futex(state_, FUTEX_WAIT, kHeldWithWaiters);
  }
}

void DeviceLock::wake_one() noexcept { futex(state_, FUTEX_WAKE, 1); }

void wait_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
  futex(word, FUTEX_WAIT, seen);
}

void wake_all(const std::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, INT_MAX); }

}  // namespace tidemark::alloc
