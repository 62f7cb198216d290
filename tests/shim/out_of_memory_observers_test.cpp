// Who is told of an allocation that failed, in which order, and what becomes of one that fails meanwhile.
#include "shim/runtime/out_of_memory_observers.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "shim/alloc/device_cache.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "tests/support/fake_upstream.hpp"

namespace tidemark::runtime {
namespace {

struct Seen {
  std::vector<std::string> calls;
  alloc::DeviceCache* cache = nullptr;
  int depth = -1;
};

void note(std::int32_t device, std::int64_t size, std::int64_t total, std::int64_t free, void* data) {
  auto& seen = *static_cast<Seen*>(data);
  seen.calls.push_back(std::to_string(device) + " " + std::to_string(size) + " " + std::to_string(total) + " " +
                       std::to_string(free));
  seen.depth = hook::thread_state.depth;
}

void fail_again(std::int32_t, std::int64_t, std::int64_t, std::int64_t, void* data) {
  auto& seen = *static_cast<Seen*>(data);
  seen.calls.emplace_back("again");
  EXPECT_FALSE(seen.cache->allocate(test::kContext, 1_GiB).ok());
  EXPECT_EQ(seen.cache->counters()[BasisWord::ooms], 2U) << "no lock is held, and the failure is counted";
}

class OutOfMemoryObserversTest : public testing::Test {
 protected:
  OutOfMemoryObserversTest()
      : cache_(std::make_unique<alloc::DeviceCache>(device_, nullptr, *map_, alloc::Policy::cuda_default(), 64_MiB)),
        relay_(7, *cache_) {
    cache_->set_out_of_memory_observer(&relay_);
  }

  test::FakeUpstream device_{64_MiB};
  std::unique_ptr<alloc::SegmentMap> map_ = std::make_unique<alloc::SegmentMap>();
  std::unique_ptr<alloc::DeviceCache> cache_;
  OutOfMemoryRelay relay_;
  Seen seen_;
};

TEST_F(OutOfMemoryObserversTest, AreToldTheDeviceTheSizeTheTotalAndWhatIsFree) {
  ASSERT_TRUE(cache_->allocate(test::kContext, 16_MiB).ok());
  ASSERT_TRUE(out_of_memory_observers.attach(&note, &seen_));
  {
    const hook::ReentryGuard guard;  // as in an exported function
    EXPECT_FALSE(cache_->allocate(test::kContext, 100_MiB).ok());
  }
  cache_->set_limit(32_MiB);
  EXPECT_FALSE(cache_->allocate(test::kContext, 40_MiB).ok());

  EXPECT_TRUE(out_of_memory_observers.detach(&note, &seen_));
  EXPECT_FALSE(cache_->allocate(test::kContext, 100_MiB).ok());
  EXPECT_EQ(seen_.calls, (std::vector<std::string>{"7 104857600 67108864 50331648", "7 41943040 33554432 50331648"}));
  EXPECT_EQ(seen_.depth, 0) << "what it calls is the program's own";
}

TEST_F(OutOfMemoryObserversTest, AreNotCalledForAFailureOfTheirOwn) {
  seen_.cache = cache_.get();
  ASSERT_TRUE(out_of_memory_observers.attach(&fail_again, &seen_));
  ASSERT_TRUE(out_of_memory_observers.attach(&note, &seen_));

  EXPECT_FALSE(cache_->allocate(test::kContext, 100_MiB).ok());

  EXPECT_EQ(seen_.calls.size(), 2U);
  EXPECT_EQ(seen_.calls.front(), "again") << "in the order in which they were attached";
  EXPECT_TRUE(out_of_memory_observers.detach(&fail_again, &seen_));
  EXPECT_TRUE(out_of_memory_observers.detach(&note, &seen_));
  EXPECT_FALSE(out_of_memory_observers.detach(&note, &seen_));
}

TEST(OutOfMemoryObservers, AreAtMostSixtyFour) {
  const auto observers = std::make_unique<OutOfMemoryObservers>();
  for (std::size_t i = 0; i < OutOfMemoryObservers::kMost; ++i) {
    EXPECT_TRUE(observers->attach(&note, nullptr));
  }

  EXPECT_FALSE(observers->attach(&note, nullptr));
}

// A library that attaches one around each of its steps was refused for good after 64 of them.
TEST(OutOfMemoryObservers, GiveTheirPlaceToTheNext) {
  const auto observers = std::make_unique<OutOfMemoryObservers>();
  for (std::size_t i = 0; i < 3 * OutOfMemoryObservers::kMost; ++i) {
    ASSERT_TRUE(observers->attach(&note, nullptr)) << i;
    ASSERT_TRUE(observers->detach(&note, nullptr)) << i;
  }

  EXPECT_TRUE(observers->empty());
}

void note_name(std::int32_t, std::int64_t, std::int64_t, std::int64_t, void* data) {
  static_cast<Seen*>(data)->calls.emplace_back(static_cast<Seen*>(data)->calls.empty() ? "first" : "later");
}

// The second place's observer is older than the one that was given the first place meanwhile.
TEST(OutOfMemoryObservers, AreCalledInTheirOrderWhateverTheirPlaces) {
  const auto observers = std::make_unique<OutOfMemoryObservers>();
  Seen seen;
  ASSERT_TRUE(observers->attach(&note, nullptr));
  ASSERT_TRUE(observers->attach(&note_name, &seen));
  ASSERT_TRUE(observers->detach(&note, nullptr));
  ASSERT_TRUE(observers->attach(&note, &seen));

  observers->call(1, 2, 3, 4);

  EXPECT_EQ(seen.calls, (std::vector<std::string>{"first", "1 2 3 4"}));
}

TEST(OutOfMemoryObservers, DetachTheOneAttachedLast) {
  const auto observers = std::make_unique<OutOfMemoryObservers>();
  Seen seen;
  ASSERT_TRUE(observers->attach(&fail_again, nullptr));
  ASSERT_TRUE(observers->attach(&note, &seen));
  ASSERT_TRUE(observers->attach(&note_name, &seen));
  ASSERT_TRUE(observers->detach(&fail_again, nullptr));
  ASSERT_TRUE(observers->attach(&note, &seen));  // at the first place, and the younger of the two

  EXPECT_TRUE(observers->detach(&note, &seen));
  observers->call(1, 2, 3, 4);

  EXPECT_EQ(seen.calls, (std::vector<std::string>{"1 2 3 4", "later"}));
}

void attach_another(std::int32_t, std::int64_t, std::int64_t, std::int64_t, void* data) {
  auto& observers = *static_cast<OutOfMemoryObservers*>(data);
  EXPECT_TRUE(observers.detach(&attach_another, data));
  EXPECT_TRUE(observers.attach(&attach_another, data));
}

TEST(OutOfMemoryObservers, ThatAttachThemselvesAnewAreCalledOnce) {
  const auto observers = std::make_unique<OutOfMemoryObservers>();
  ASSERT_TRUE(observers->attach(&attach_another, observers.get()));

  observers->call(1, 2, 3, 4);

  EXPECT_TRUE(observers->detach(&attach_another, observers.get()));
  EXPECT_TRUE(observers->empty());
}

}  // namespace
}  // namespace tidemark::runtime
