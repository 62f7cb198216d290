// Recordings that begin and end while threads of the program allocate.
#include "shim/publish/historian.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shared/history/reader.hpp"
#include "shared/segment/writer.hpp"
#include "shim/alloc/device_cache.hpp"
#include "tests/shared/scratch.hpp"
#include "tests/support/fake_upstream.hpp"
#include "tests/support/history_check.hpp"

namespace tidemark::test {
namespace {

using alloc::DevicePtr;
using publish::Historian;

constexpr alloc::ContextId kContext{1};
constexpr history::Settings kAll{.stacks = history::Stacks::All, .max_entries = 4096};

class HistorianTest : public testing::Test {
 protected:
  HistorianTest() {
    historian_->open(segment_, true);
    EXPECT_TRUE(historian_->add_device(*cache_, sink_).ok());
  }

  // As a call of the program's does.
  void allocate_and_free() {
    DevicePtr block;
    {
      const Historian::CallStack stack{*historian_};
      block = cache_->allocate(kContext, 4_KiB).value();
    }
    EXPECT_TRUE(cache_->release(block).ok());
  }
  [[nodiscard]] history::History read() const {
    return history::HistoryReader::open(std::string{segment_.path()} + ".hist").value().read().value();
  }
  static void expect_stacks_of_its_own(const history::History& history) {
    EXPECT_EQ(what_is_wrong(history), "");
    for (const history::Event& event : history.devices.at(0).events) {
      if (event.stack != 0) {
        EXPECT_FALSE(history.stacks.at(event.stack).addresses.empty());
      }
    }
  }

  TemporaryDirectory directory_;
  segment::SegmentWriter segment_ = std::move(segment::SegmentWriter::create(options_in(directory_))).value();
  FakeUpstream device_{8_GiB};
  alloc::SegmentMap map_;
  publish::DeviceSink sink_{sample_device()};
  std::unique_ptr<alloc::DeviceCache> cache_ =
      std::make_unique<alloc::DeviceCache>(device_, nullptr, map_, alloc::Policy::cuda_default(), 8_GiB);
  std::unique_ptr<Historian> historian_ = std::make_unique<Historian>();
};

TEST_F(HistorianTest, GivesEachAllocationTheStackOfItsCall) {
  ASSERT_TRUE(historian_->start(kAll).ok());
  allocate_and_free();

  const history::History history = read();

  ASSERT_EQ(history.devices.at(0).events.size(), 4U);
  const history::Event& allocation = history.devices.at(0).events[1];
  EXPECT_NE(allocation.stack, 0U);
  EXPECT_FALSE(history.stacks.at(allocation.stack).addresses.empty());
  EXPECT_FALSE(history.modules.empty());
  EXPECT_EQ(publish::stack_of_call.number, 0U) << "the call is over";
  EXPECT_TRUE(historian_->stop());
}

TEST_F(HistorianTest, GivesAnInnerCallsStackBackToTheOuterOne) {
  ASSERT_TRUE(historian_->start(kAll).ok());
  const Historian::CallStack outer{*historian_};
  const history::StackId number = publish::stack_of_call.number;
  { const Historian::CallStack inner{*historian_}; }

  EXPECT_NE(number, 0U);
  EXPECT_EQ(publish::stack_of_call.number, number);
  EXPECT_TRUE(historian_->stop());
}

TEST_F(HistorianTest, TakesNoStacksUnlessAskedTo) {
  ASSERT_TRUE(historian_->start({.stacks = history::Stacks::None, .max_entries = 4096}).ok());
  allocate_and_free();

  EXPECT_EQ(read().devices.at(0).events.at(1).stack, 0U);
  EXPECT_TRUE(historian_->stop());
}

TEST_F(HistorianTest, BeginsAndEndsWhileThreadsAllocate) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
        allocate_and_free();
      }
    });
  }
  for (std::uint64_t round = 1; round <= 30; ++round) {
    ASSERT_TRUE(historian_->start(kAll).ok());
    historian_->set_beat(round);
    std::this_thread::yield();
    const std::string copy = directory_.path() + "/copy.tmsnap";
    ASSERT_TRUE(historian_->save_snapshot(copy.c_str(), history::Reason::Asked, true).ok());
    expect_stacks_of_its_own(history::HistoryReader::open(copy).value().read().value());
    ASSERT_EQ(::unlink(copy.c_str()), 0);
    EXPECT_TRUE(historian_->stop());
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace tidemark::test
