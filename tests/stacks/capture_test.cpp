// Walks of stacks whose every return address is known.
#include "shim/stacks/capture.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

#include "shim/hook/own_object.hpp"
#include "tests/stacks/walks.hpp"

namespace tidemark::stacks {
namespace {

using testing::ElementsAreArray;

class Chains : public testing::TestWithParam<void (*)(Chain&)> {};

TEST_P(Chains, AreWalkedToTheByte) {
  for (int again = 0; again < 2; ++again) {  // by the tables, then by what is remembered of them
    Chain chain{};
    const Taken taken = take_at_the_end_of(GetParam(), chain);

    EXPECT_EQ(chain.depth, 5u);
    EXPECT_TRUE(goes_through(taken.frames(), chain));
    EXPECT_EQ(taken.ending(), Ending::Outermost);
  }
}

TEST_P(Chains, AreWalkedFromASignalHandler) {
  static Taken taken;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { taken = take(); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);

  Chain chain{};
  chain.at_the_end = [](void*) { raise(SIGUSR1); };
  GetParam()(chain);
  sigaction(SIGUSR1, &before, nullptr);

  EXPECT_TRUE(goes_through(taken.frames(), chain));
  EXPECT_EQ(taken.ending(), Ending::Outermost);
}

std::string name_of_way(const testing::TestParamInfo<void (*)(Chain&)>& way) {
  constexpr std::array kNames = {"WithoutFramePointer", "WithFramePointer", "Unoptimised"};
  return kNames[way.index];
}
INSTANTIATE_TEST_SUITE_P(Compiled, Chains,
                         testing::Values(&tidemark_chain_without_fp, &tidemark_chain_with_fp,
                                         &tidemark_chain_unoptimised),
                         name_of_way);

// All but the innermost, which is where each of the two was called.
TEST(Capture, SeesWhatTheRunTimeSees) {
  const std::vector<std::uintptr_t> theirs = take_by_run_time();
  std::vector<std::uintptr_t> ours(128);
  const Walk walk = capture(ours);
  ours.resize(walk.frames);

  EXPECT_THAT(std::vector(ours.begin() + 1, ours.end()),
              ElementsAreArray(theirs.end() - static_cast<std::ptrdiff_t>(ours.size()) + 1, theirs.end()));
  EXPECT_EQ(walk.ending, Ending::Outermost);
}

TEST(Capture, LeavesOutAndStopsAsAsked) {
  std::array<std::uintptr_t, 3> all{};
  std::array<std::uintptr_t, 2> rest{};

  const Walk three = capture(all);
  const Walk two = capture(rest, 1);

  EXPECT_EQ(three.frames, 3u);
  EXPECT_EQ(three.ending, Ending::Full);
  EXPECT_EQ(two.frames, 2u);
  EXPECT_THAT(rest, ElementsAreArray(all.begin() + 1, all.end()));
  EXPECT_EQ(capture({}).frames, 0u);
}

TEST(Capture, KeepsErrno) {
  errno = 4711;
  forget_unloaded();
  (void)take();
  EXPECT_EQ(errno, 4711);
}

// Ours stood in the stack of a program's first allocation, between its call and the runtime.
TEST(Capture, BeyondUsHasNothingOfThisProgram) {
  static std::array<std::uintptr_t, 8> frames;
  static Walk walk;
  static std::array<std::uintptr_t, 8> all;
  int numbers[] = {2, 1};

  qsort(numbers, 2, sizeof(int), [](const void*, const void*) {
    walk = capture_beyond_us(frames);
    (void)capture(all);
    return 0;
  });

  ASSERT_GE(walk.frames, 1u);
  const auto is_ours = [](std::uintptr_t address) {
    return hook::is_inside_our_object(reinterpret_cast<const void*>(address));
  };
  EXPECT_EQ(frames[0], *std::find_if_not(all.begin(), all.end(), is_ours)) << "inside qsort";
  EXPECT_EQ(std::count_if(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(walk.frames), is_ours), 0);
}

TEST(Capture, GoesThroughAnExceptionOnItsWay) {
  struct TakesAtItsEnd {
    Taken& taken;
    ~TakesAtItsEnd() { taken = take(); }
  };
  static Taken in_destructor;
  static Taken in_handler;
  Chain chain{};
  chain.at_the_end = [](void*) {
    try {
      const TakesAtItsEnd takes{in_destructor};
      throw std::runtime_error{"on its way"};
    } catch (const std::exception&) {
      in_handler = take();
    }
  };
  tidemark_chain_without_fp(chain);

  EXPECT_TRUE(goes_through(in_destructor.frames(), chain));
  EXPECT_TRUE(goes_through(in_handler.frames(), chain));
}

TEST(Capture, WorksOnASmallThread) {
  static Taken taken;
  Chain chain{};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 16384), 0);
  pthread_t thread{};
  const auto start = [](void* data) -> void* {
    auto& into = *static_cast<Chain*>(data);
    into.at_the_end = [](void*) { taken.walk = capture(taken.words); };  // no copy of it on the small stack
    tidemark_chain_without_fp(into);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &chain), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);

  EXPECT_TRUE(goes_through(taken.frames(), chain));
  EXPECT_EQ(taken.ending(), Ending::Outermost);
}

TEST(Capture, GivesManyThreadsTheirOwnStacks) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      for (int round = 0; round < 200; ++round) {
        if (round % 50 == 0) {
          forget_unloaded();
        }
        Chain chain{};
        const auto way = (i + round) % 2 == 0 ? &tidemark_chain_without_fp : &tidemark_chain_with_fp;
        const Taken taken = take_at_the_end_of(way, chain);
        ASSERT_TRUE(goes_through(taken.frames(), chain));
        ASSERT_EQ(taken.ending(), Ending::Outermost);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Runs the chain on a stack of its own, as libraries of fibers do.
Taken take_on_fiber(void* stack, std::size_t size, Chain& into) {
  static ucontext_t fiber;
  static ucontext_t outside;
  static Chain chain;
  static Taken taken;
  chain = {};
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = size;
  fiber.uc_link = &outside;
  makecontext(
      &fiber, [] { taken = take_at_the_end_of(&tidemark_chain_without_fp, chain); }, 0);
  swapcontext(&outside, &fiber);
  into = chain;
  return taken;
}

// Stacks that the program mapped, with nothing readable on either side, used, unmapped and mapped again smaller.
TEST(Capture, WalksFibersAndStopsAtTheirEnd) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kPages = 16;
  for (int round = 0; round < 20; ++round) {
    void* memory = mmap(nullptr, (kPages + 2) * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* const stack = static_cast<char*>(memory) + kPage;
    const std::size_t size = (round % 2 == 0 ? kPages : kPages / 2) * kPage;
    ASSERT_EQ(mprotect(stack, size, PROT_READ | PROT_WRITE), 0);
    Chain chain{};

    const Taken taken = take_on_fiber(stack, size, chain);

    EXPECT_TRUE(goes_through(taken.frames(), chain));
    EXPECT_LT(taken.frames().size(), 12u) << "what is on the other stack is no caller";
    munmap(memory, (kPages + 2) * kPage);
  }
}

TEST(Capture, WalksFromASignalStackToTheInterruptedOne) {
  static Taken taken;
  constexpr std::size_t kSize = 64 << 10;
  auto* const memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const stack_t other{.ss_sp = memory, .ss_flags = 0, .ss_size = kSize};
  stack_t before{};
  ASSERT_EQ(sigaltstack(&other, &before), 0);
  struct sigaction action {};
  struct sigaction action_before {};
  action.sa_handler = [](int) { taken = take(); };
  action.sa_flags = SA_ONSTACK;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &action_before), 0);

  Chain chain{};
  chain.at_the_end = [](void*) { raise(SIGUSR1); };
  tidemark_chain_without_fp(chain);
  sigaction(SIGUSR1, &action_before, nullptr);
  before.ss_flags = SS_DISABLE;
  sigaltstack(&before, nullptr);
  munmap(memory, kSize);

  EXPECT_TRUE(goes_through(taken.frames(), chain));
  EXPECT_EQ(taken.ending(), Ending::Outermost);
}

}  // namespace
}  // namespace tidemark::stacks
