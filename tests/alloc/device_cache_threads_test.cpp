// Threads: nothing is handed out twice, nothing leaks, and every published state holds, whoever frees what.
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kSteps = 2000;
#else
constexpr int kSteps = 20'000;
#endif

// Who holds which addresses: a block that overlaps a held one was handed out twice.
class Ledger {
 public:
  void take(DevicePtr ptr, Bytes size) {
    const std::lock_guard guard(mutex_);
    const auto next = held_.lower_bound(ptr.address());
    const bool clear_after = next == held_.end() || next->first >= ptr.address() + size.count();
    const bool clear_before =
        next == held_.begin() || std::prev(next)->first + std::prev(next)->second <= ptr.address();
    EXPECT_TRUE(clear_after && clear_before) << "handed out twice";
    held_[ptr.address()] = size.count();
  }
  void drop(DevicePtr ptr) {
    const std::lock_guard guard(mutex_);
    EXPECT_EQ(held_.erase(ptr.address()), 1U);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> held_;
};

struct Case {
  const char* name;
  int threads;
  alloc::LargeRequests large;
  alloc::FreeMode free_mode;
  Bytes capacity;
  alloc::Fill fill = alloc::Fill::None;
};
std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.name; }

class Threads : public testing::TestWithParam<Case> {
 protected:
  Threads() : rig_(policy(), GetParam().capacity) {}

  static Policy policy() {
    Policy policy;
    policy.large_requests = GetParam().large;
    policy.free_mode = GetParam().free_mode;
    policy.fill = GetParam().fill;
    return policy;
  }

  void run(const std::function<void(std::uint64_t seed)>& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < GetParam().threads; ++i) {
      threads.emplace_back(body, 17 + static_cast<std::uint64_t>(i));
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  void expect_nothing_left() {
    ASSERT_TRUE(rig_.cache().empty_cache().ok());
    EXPECT_EQ(rig_.reserved(), 0_B);
    EXPECT_EQ(rig_.device.live(), 0U);
    EXPECT_EQ(rig_.device.calls().open_fences, 0U);
  }

  CacheRig rig_;
  Ledger ledger_;
};

TEST_P(Threads, MixEverythingAndLoseNothing) {
  run([&](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::vector<DevicePtr> mine;
    for (int step = 0; step < kSteps; ++step) {
      const std::uint64_t dice = random() % 1000;
      if (dice < 500 || mine.empty()) {
        const Bytes size{1 + random() % (std::uint64_t{1} << (8 + random() % 15))};
        const Result<DevicePtr> ptr = rig_.cache().allocate(kContext, size);
        if (ptr.ok()) {
          ledger_.take(ptr.value(), size);
          mine.push_back(ptr.value());
        } else {
          EXPECT_EQ(ptr.error().code, ErrorCode::OutOfMemory);
        }
      } else if (dice < 995) {
        std::swap(mine[random() % mine.size()], mine.back());
        ledger_.drop(mine.back());
        EXPECT_TRUE(rig_.cache().release(mine.back()).ok());
        mine.pop_back();
      } else if (dice < 997) {
        EXPECT_TRUE(rig_.cache().empty_cache().ok());
      } else if (dice < 998) {
        rig_.cache().reset_peaks();
      } else if (dice < 999) {
        EXPECT_TRUE(rig_.cache().memory_info(kContext).ok());
      } else {
        rig_.device.submit_work();
      }
    }
    for (const DevicePtr ptr : mine) {
      ledger_.drop(ptr);
      EXPECT_TRUE(rig_.cache().release(ptr).ok());
    }
  });

  rig_.check();
  expect_nothing_left();
}

TEST_P(Threads, FreeWhatOthersAllocated) {
  std::mutex mutex;
  std::deque<DevicePtr> passed_on;

  run([&](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    for (int step = 0; step < kSteps / 2; ++step) {
      const Bytes size{1 + random() % 100'000};
      const Result<DevicePtr> ptr = rig_.cache().allocate(kContext, size);
      std::optional<DevicePtr> other;
      {
        const std::lock_guard guard(mutex);
        if (ptr.ok()) {
          passed_on.push_back(ptr.value());
        }
        if (passed_on.size() > 64) {
          other = passed_on.front();
          passed_on.pop_front();
        }
      }
      if (other) {
        EXPECT_TRUE(rig_.cache().release(*other).ok());
      }
    }
  });

  for (const DevicePtr ptr : passed_on) {
    rig_.freed(ptr);
  }
  rig_.check();
  expect_nothing_left();
}

// Nothing of a thread's is left with it: whoever comes later frees what it had, and gets it.
TEST_P(Threads, MayExitAndLeaveTheirBlocksToOthers) {
  constexpr int kGenerations = 40;
  std::mutex mutex;
  std::vector<std::pair<DevicePtr, Bytes>> left;

  for (std::uint64_t generation = 0; generation < kGenerations; ++generation) {
    run([&](std::uint64_t seed) {
      std::mt19937_64 random{seed * 1000 + generation};
      for (int step = 0; step < 50; ++step) {
        const Bytes size{1 + random() % (std::uint64_t{1} << (9 + random() % 13))};
        const Result<DevicePtr> ptr = rig_.cache().allocate(kContext, size);
        std::optional<std::pair<DevicePtr, Bytes>> other;
        {
          const std::lock_guard guard(mutex);
          if (ptr.ok()) {
            ledger_.take(ptr.value(), size);
            left.emplace_back(ptr.value(), size);
          }
          if (left.size() > 100) {
            std::swap(left[random() % left.size()], left.back());
            other = left.back();
            left.pop_back();
            ledger_.drop(other->first);
          }
        }
        if (other) {
          EXPECT_TRUE(rig_.cache().release(other->first).ok());
        }
      }
    });
  }

  for (const auto& [ptr, size] : left) {
    rig_.freed(ptr);
  }
  rig_.check();
  expect_nothing_left();
}

TEST_P(Threads, ADoubleFreeSucceedsOnce) {
  constexpr int kRounds = 200;
  std::vector<DevicePtr> blocks;
  for (int i = 0; i < kRounds; ++i) {
    blocks.push_back(rig_.allocated(4_KiB));
  }
  const DevicePtr wall = rig_.allocated(4_KiB);  // keeps the last segment ours
  std::atomic<int> succeeded{0};

  run([&](std::uint64_t) {
    for (const DevicePtr block : blocks) {
      succeeded += rig_.cache().release(block).ok() ? 1 : 0;
    }
  });

  EXPECT_EQ(succeeded, kRounds);
  rig_.freed(wall);
}

constexpr auto kWhole = alloc::LargeRequests::Whole;
constexpr auto kSplit = alloc::LargeRequests::Split;
constexpr auto kStrict = alloc::FreeMode::Strict;
constexpr auto kFast = alloc::FreeMode::Fast;

INSTANTIATE_TEST_SUITE_P(Counts, Threads,
                         testing::Values(Case{"one", 1, kWhole, kStrict, 8_GiB}, Case{"two", 2, kWhole, kStrict, 8_GiB},
                                         Case{"eight", 8, kWhole, kStrict, 8_GiB},
                                         Case{"two_split", 2, kSplit, kStrict, 8_GiB},
                                         Case{"eight_fast", 8, kWhole, kFast, 8_GiB},
                                         Case{"eight_split_fast", 8, kSplit, kFast, 8_GiB},
                                         Case{"eight_narrow", 8, kWhole, kStrict, 64_MiB},
                                         Case{"eight_narrow_fast", 8, kSplit, kFast, 96_MiB},
                                         Case{"eight_zeroing", 8, kWhole, kStrict, 8_GiB, alloc::Fill::Zero},
                                         Case{"eight_poisoning", 8, kSplit, kStrict, 64_MiB, alloc::Fill::Poison},
                                         Case{"eight_poisoning_fast", 8, kSplit, kFast, 96_MiB, alloc::Fill::Poison}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(ThreadsAndContexts, MayBeDestroyedWhileOthersGoOn) {
  CacheRig rig;
  std::atomic<bool> done{false};
  std::thread other([&] {
    std::mt19937_64 random{3};
    while (!done) {
      const Result<DevicePtr> ptr = rig.cache().allocate(alloc::ContextId{2}, Bytes{1 + random() % 100'000});
      ASSERT_TRUE(ptr.ok());
      ASSERT_TRUE(rig.cache().release(ptr.value()).ok());
    }
  });
  for (std::uint64_t id = 10; id < 10 + 200; ++id) {
    const alloc::ContextId context{id};
    std::vector<DevicePtr> blocks;
    for (int i = 0; i < 20; ++i) {
      blocks.push_back(rig.allocated(Bytes{1000 + id * 100}, context));
    }
    rig.freed(blocks.front());
    rig.cache().detach_context(context);
    rig.device.destroy_context(context);
    rig.cache().forget_detached(context);
  }
  done = true;
  other.join();

  rig.check();
  ASSERT_TRUE(rig.cache().empty_cache().ok());
  EXPECT_EQ(rig.reserved(), 0_B);
}

// A program that holds most of the device in turn: what is cached must always be enough.
TEST(ThreadsAndMemory, NeverRunOutWhileEnoughIsCached) {
  constexpr int kThreads = 4;
  CacheRig rig{Policy::cuda_default(), 64_MiB};
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 random{static_cast<std::uint64_t>(i)};
      for (int step = 0; step < kSteps / 4; ++step) {
        // At most 16 MiB each, so all four together fit, in whatever sizes the cache was left.
        const Result<DevicePtr> ptr = rig.cache().allocate(kContext, 2_MiB * (1 + random() % 8));
        if (!ptr.ok()) {
          ++refused;
          continue;
        }
        EXPECT_TRUE(rig.cache().release(ptr.value()).ok());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  EXPECT_EQ(refused, 0);
  EXPECT_EQ(rig[BasisWord::ooms], 0U);
}

}  // namespace
}  // namespace tidemark::test
