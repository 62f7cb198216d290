// The lock of a device: a short spin, then a futex.
#include "shim/alloc/device_lock.hpp"

#include <cerrno>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::test {
namespace {

TEST(DeviceLock, LetsOneInAtATime) {
  alloc::DeviceLock lock;
  std::uint64_t counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        const alloc::DeviceLockGuard guard(lock);
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  EXPECT_EQ(counter, 40'000U);
}

TEST(DeviceLock, WakesWhoFellAsleepAndLeavesErrnoAlone) {
  alloc::DeviceLock lock;
  lock.lock();
  errno = 1234;
  int seen = 0;
  std::thread waiter([&] {
    errno = 77;
    lock.lock();
    seen = errno;
    lock.unlock();
  });
  // Far longer than it spins: it sleeps, or has not begun, and either is right.
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::yield();
  }
  lock.unlock();
  waiter.join();

  EXPECT_EQ(seen, 77);
  EXPECT_EQ(errno, 1234);
}

}  // namespace
}  // namespace tidemark::test
