#include "shim/alloc/device_lock.hpp"

#include <cerrno>
#include <climits>
#include <ctime>

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

// How long one sleeps whom nobody saw fall asleep.
constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 1'000'000};

// The program's call must not see an errno of ours.
void futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit = nullptr) noexcept {
  const int saved = errno;
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
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
  // Said before each try: whoever unlocks from here on wakes somebody. It stands when the try succeeds, for there may
  // be more sleepers than this one: this one's own unlock then wakes the next, or nobody.
  for (;;) {
    sleeps_.store(1, std::memory_order_seq_cst);
    if (try_lock()) {
      return;
    }
    futex(state_, FUTEX_WAIT, kHeld, &kNap);
  }
}

void DeviceLock::wake_one() noexcept {
  if (sleeps_.exchange(0, std::memory_order_relaxed) != 0) {
    futex(state_, FUTEX_WAKE, 1);
  }
}

void wait_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
  futex(word, FUTEX_WAIT, seen);
}

void wake_all(const std::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, INT_MAX); }

}  // namespace tidemark::alloc
