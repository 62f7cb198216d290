// What every alloc::Upstream must do, whatever driver is behind it. A backend runs it with one small file:
//
//   class MyRig : public UpstreamRig { ... };
//   INSTANTIATE_TEST_SUITE_P(My, UpstreamContract, testing::Values([] { return std::make_unique<MyRig>(); }));
//
// Include it in one file of a test program only: it defines the tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "shared/base/bytes.hpp"
#include "shared/base/result.hpp"
#include "shim/alloc/upstream.hpp"

namespace tidemark::test {

// A backend with a device behind it that does what the test says.
class UpstreamRig {
 public:
  virtual ~UpstreamRig() = default;

  [[nodiscard]] virtual alloc::Upstream& upstream() = 0;
  [[nodiscard]] virtual alloc::ContextId context() = 0;

  // Device work that is not done before finish_work() or a wait, whichever is first.
  virtual void submit_work() = 0;
  virtual void finish_work() = 0;
  [[nodiscard]] virtual bool is_work_done() = 0;

  // What stands there now. Requires: nobody writes it.
  [[nodiscard]] virtual unsigned char byte_at(alloc::DevicePtr ptr) = 0;

  // False: this driver has no captures, and what is tested of them is skipped.
  virtual bool begin_capture() { return false; }
  virtual void end_capture() {}

  // Runs `call` where this driver takes no call: in a host function of a stream.
  virtual void run_where_calls_are_refused(const std::function<void()>& call) = 0;

  // What the calling thread would notice: its current device, context, last error. The same before and after each call.
  [[nodiscard]] virtual std::uint64_t thread_state() { return 0; }
};

// For the driver's host functions, which take a pointer.
inline void run_call(void* call) { (*static_cast<const std::function<void()>*>(call))(); }

using UpstreamRigFactory = std::function<std::unique_ptr<UpstreamRig>()>;

class UpstreamContract : public testing::TestWithParam<UpstreamRigFactory> {
 protected:
  UpstreamContract() : rig(GetParam()()), upstream(rig->upstream()), context(rig->context()) {}

  [[nodiscard]] alloc::DevicePtr allocated(Bytes size) {
    const Result<alloc::DevicePtr> ptr = upstream.allocate(context, size);
    EXPECT_TRUE(ptr.ok()) << "native code " << (ptr.ok() ? 0 : ptr.error().native);
    return ptr.ok() ? ptr.value() : alloc::DevicePtr{};
  }
  [[nodiscard]] Bytes free_memory() {
    const Result<alloc::MemoryInfo> info = upstream.memory_info(context);
    EXPECT_TRUE(info.ok());
    return info.ok() ? info.value().free : Bytes{0};
  }
  [[nodiscard]] Bytes total_memory() {
    const Result<alloc::MemoryInfo> info = upstream.memory_info(context);
    EXPECT_TRUE(info.ok());
    return info.ok() ? info.value().total : Bytes{0};
  }

  std::unique_ptr<UpstreamRig> rig;
  alloc::Upstream& upstream;
  alloc::ContextId context;
};

TEST_P(UpstreamContract, GivesAlignedMemoryThatDoesNotOverlap) {
  const std::vector<Bytes> sizes = {1_B, 512_B, 513_B, 1_MiB, 2_MiB, 3_MiB, 20_MiB};
  std::vector<alloc::DevicePtr> blocks;
  blocks.reserve(sizes.size());

  for (const Bytes size : sizes) {
    blocks.push_back(allocated(size));
  }

  for (std::size_t a = 0; a < blocks.size(); ++a) {
    EXPECT_EQ(blocks[a].address() % 512, 0U);
    EXPECT_NE(blocks[a].address(), 0U);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const bool apart = blocks[a].address() + sizes[a].count() <= blocks[b].address() ||
                         blocks[b].address() + sizes[b].count() <= blocks[a].address();
      EXPECT_TRUE(a == b || apart);
    }
  }
  for (const alloc::DevicePtr block : blocks) {
    EXPECT_TRUE(upstream.release(context, block).ok());
  }
}

TEST_P(UpstreamContract, TellsHowMuchIsFree) {
  const Bytes before = free_memory();
  const Bytes total = total_memory();

  const alloc::DevicePtr block = allocated(64_MiB);
  const Bytes meanwhile = free_memory();
  ASSERT_TRUE(upstream.release(context, block).ok());

  EXPECT_LE(before, total);
  EXPECT_LE(meanwhile + 64_MiB, before);
  EXPECT_EQ(free_memory(), before);
  EXPECT_EQ(total_memory(), total);
}

TEST_P(UpstreamContract, SaysOutOfMemoryWithTheDriversCodeAndGoesOn) {
  const Result<alloc::DevicePtr> refused = upstream.allocate(context, total_memory() * 2);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);
  EXPECT_NE(refused.error().native, 0);
  EXPECT_TRUE(upstream.release(context, allocated(1_MiB)).ok());
}

TEST_P(UpstreamContract, GivesMemoryUntilItIsUsedUp) {
  std::vector<alloc::DevicePtr> blocks;
  const Bytes step{total_memory().count() / 16};

  Result<alloc::DevicePtr> next = upstream.allocate(context, step);
  while (next.ok() && blocks.size() < 64) {
    blocks.push_back(next.value());
    next = upstream.allocate(context, step);
  }

  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, ErrorCode::OutOfMemory);
  EXPECT_GE(blocks.size(), 8U);
  EXPECT_LE(blocks.size(), 16U);
  for (const alloc::DevicePtr block : blocks) {
    EXPECT_TRUE(upstream.release(context, block).ok());
  }
}

TEST_P(UpstreamContract, RefusesToFreeWhatItDidNotGive) {
  const alloc::DevicePtr block = allocated(1_MiB);

  const Status interior = upstream.release(context, alloc::DevicePtr{block.address() + 512});
  const Status once = upstream.release(context, block);
  const Status twice = upstream.release(context, block);

  ASSERT_FALSE(interior.ok());
  EXPECT_EQ(interior.error().code, ErrorCode::InvalidValue);
  EXPECT_NE(interior.error().native, 0);
  EXPECT_TRUE(once.ok());
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, ErrorCode::InvalidValue);
}

TEST_P(UpstreamContract, WaitsUntilAllWorkIsDone) {
  EXPECT_TRUE(upstream.wait_for_all_work(context).ok());
  rig->submit_work();
  rig->submit_work();
  ASSERT_FALSE(rig->is_work_done());

  EXPECT_TRUE(upstream.wait_for_all_work(context).ok());

  EXPECT_TRUE(rig->is_work_done());
}

TEST_P(UpstreamContract, AFenceIsDoneWhenTheWorkBeforeItIs) {
  rig->submit_work();
  const Result<alloc::FenceToken> fence = upstream.record_fence(context);
  if (!fence.ok()) {
    EXPECT_EQ(fence.error().code, ErrorCode::Unsupported);
    const Result<bool> done = upstream.is_fence_done(context, alloc::FenceToken{1});
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, ErrorCode::Unsupported);
    GTEST_SKIP() << "this backend has no fences";
  }
  EXPECT_NE(fence.value(), alloc::FenceToken{});

  const Result<bool> early = upstream.is_fence_done(context, fence.value());
  rig->finish_work();
  const Result<bool> late = upstream.is_fence_done(context, fence.value());

  ASSERT_TRUE(early.ok());
  EXPECT_FALSE(early.value());
  ASSERT_TRUE(late.ok());
  EXPECT_TRUE(late.value());
}

TEST_P(UpstreamContract, ADroppedFenceLeavesTheOthersAlone) {
  rig->submit_work();
  const Result<alloc::FenceToken> first = upstream.record_fence(context);
  if (!first.ok()) {
    GTEST_SKIP() << "this backend has no fences";
  }
  const Result<alloc::FenceToken> second = upstream.record_fence(context);
  ASSERT_TRUE(second.ok());

  upstream.drop_fence(context, first.value());
  rig->finish_work();

  EXPECT_TRUE(upstream.is_fence_done(context, second.value()).value());
}

TEST_P(UpstreamContract, ManyFencesMayBeOpen) {
  std::vector<alloc::FenceToken> tokens;
  rig->submit_work();
  for (int i = 0; i < 64; ++i) {
    const Result<alloc::FenceToken> fence = upstream.record_fence(context);
    if (!fence.ok()) {
      GTEST_SKIP() << "this backend has no fences";
    }
    tokens.push_back(fence.value());
  }

  rig->finish_work();

  for (const alloc::FenceToken token : tokens) {
    EXPECT_TRUE(upstream.is_fence_done(context, token).value());
  }
}

TEST_P(UpstreamContract, FillsABlockAndNoMoreWithoutWaitingForOtherWork) {
  ASSERT_TRUE(upstream.can_fill());
  const alloc::DevicePtr block = allocated(4_KiB);
  const auto at = [&](std::uint64_t offset) { return alloc::DevicePtr{block.address() + offset}; };
  for (int i = 0; i < 16; ++i) {
    rig->submit_work();  // takes longer than what follows
  }

  ASSERT_TRUE(upstream.fill(context, block, 4_KiB, 1).ok());
  ASSERT_TRUE(upstream.fill(context, at(512), 512_B, 0xFF).ok());

  EXPECT_FALSE(rig->is_work_done());
  EXPECT_EQ(rig->byte_at(block), 1);
  EXPECT_EQ(rig->byte_at(at(511)), 1);
  EXPECT_EQ(rig->byte_at(at(512)), 0xFF);
  EXPECT_EQ(rig->byte_at(at(1023)), 0xFF);
  EXPECT_EQ(rig->byte_at(at(1024)), 1);
  EXPECT_EQ(rig->byte_at(at(4095)), 1);
  EXPECT_TRUE(upstream.release(context, block).ok());
}

TEST_P(UpstreamContract, MakesNoHelperCallDuringACapture) {
  EXPECT_TRUE(upstream.may_make_helper_calls());
  const alloc::DevicePtr block = allocated(1_MiB);
  rig->submit_work();
  if (!rig->begin_capture()) {
    EXPECT_TRUE(upstream.release(context, block).ok());
    GTEST_SKIP() << "this driver has no captures";
  }

  EXPECT_FALSE(upstream.may_make_helper_calls());
  const Status waited = upstream.wait_for_all_work(context);
  const Status idle = upstream.release_idle(context, block);
  const Result<alloc::FenceToken> fence = upstream.record_fence(context);
  const Status filled = upstream.fill(context, block, 1_MiB, 0);
  rig->end_capture();

  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code, ErrorCode::Busy);
  EXPECT_TRUE(idle.ok()) << "what the program gave up goes back, and the capture doesn't notice";
  ASSERT_FALSE(fence.ok());
  EXPECT_TRUE(fence.error().code == ErrorCode::Busy || fence.error().code == ErrorCode::Unsupported);
  ASSERT_FALSE(filled.ok());
  EXPECT_EQ(filled.error().code, ErrorCode::Busy);
  EXPECT_TRUE(upstream.may_make_helper_calls());
}

TEST_P(UpstreamContract, SaysThatACallIsRefusedInAHostFunctionAndLeavesAllAsItWas) {
  const alloc::DevicePtr block = allocated(1_MiB);
  const Bytes before = free_memory();
  Status waited;
  Status released;
  std::optional<Result<alloc::DevicePtr>> second;

  rig->run_where_calls_are_refused([&] {
    waited = upstream.wait_for_all_work(context);
    released = upstream.release(context, block);
    second = upstream.allocate(context, 1_MiB);
  });

  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code, ErrorCode::Refused);
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().code, ErrorCode::Refused);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(second->ok());
  EXPECT_EQ(free_memory(), before);
  EXPECT_TRUE(upstream.wait_for_all_work(context).ok());
  EXPECT_TRUE(upstream.release(context, block).ok());
}

TEST_P(UpstreamContract, LeavesTheThreadAsItWas) {
  const std::uint64_t before = rig->thread_state();

  const alloc::DevicePtr block = allocated(1_MiB);
  EXPECT_EQ(rig->thread_state(), before);
  EXPECT_FALSE(upstream.allocate(context, total_memory() * 2).ok());
  EXPECT_EQ(rig->thread_state(), before);
  EXPECT_TRUE(upstream.fill(context, block, 1_MiB, 0).ok());
  EXPECT_EQ(rig->thread_state(), before);
  EXPECT_TRUE(upstream.wait_for_all_work(context).ok());
  EXPECT_EQ(rig->thread_state(), before);
  EXPECT_TRUE(upstream.release(context, block).ok());
  EXPECT_EQ(rig->thread_state(), before);
  EXPECT_FALSE(upstream.release(context, block).ok());
  EXPECT_EQ(rig->thread_state(), before);
}

TEST_P(UpstreamContract, ServesThreadsThatNeverTouchedTheDevice) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  const Bytes before = free_memory();

  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const Result<alloc::DevicePtr> block = upstream.allocate(context, 1_MiB);
        const bool waited = upstream.wait_for_all_work(context).ok();
        good += block.ok() && waited && upstream.release(context, block.value()).ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  EXPECT_EQ(good, kThreads * kRounds);
  EXPECT_EQ(free_memory(), before);
}

}  // namespace tidemark::test
