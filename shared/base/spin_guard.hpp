// Holds a flag as a lock, for a few stores: spins, and lets others run where that takes long.
#pragma once

#include <sched.h>

#include <atomic>

namespace tidemark {

class SpinGuard {
 public:
  explicit SpinGuard(std::atomic_flag& lock) noexcept : lock_(lock) {
    for (int spins = 0; lock_.test_and_set(std::memory_order_acquire); ++spins) {
      if (spins > 100) {
        ::sched_yield();
      }
    }
  }
  ~SpinGuard() { lock_.clear(std::memory_order_release); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  std::atomic_flag& lock_;
};

}  // namespace tidemark
