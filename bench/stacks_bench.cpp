// What the stack of an allocation costs: ours beside what the compiler's run-time and the C library have, on the same
// stack, of functions without frame pointers as programs are built with -O2.
#include <benchmark/benchmark.h>
#include <execinfo.h>
#include <ucontext.h>
#include <unwind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>

#include "shim/stacks/capture.hpp"
#include "tests/stacks/kept_tables.hpp"

namespace tidemark::bench {
namespace {

constexpr std::size_t kMost = 64;

struct Place {
  std::array<std::uintptr_t, kMost> frames;
  std::size_t count;
  std::size_t deepest;
};

std::size_t take_ours(std::size_t most) {
  std::array<std::uintptr_t, kMost> frames;
  const stacks::Walk walk = stacks::capture(std::span{frames}.first(most));
  benchmark::DoNotOptimize(frames);
  return walk.frames;
}

// And its number, as it goes into a history.
std::size_t take_and_keep(std::size_t most) {
  static test::KeptTables kept;
  std::array<std::uintptr_t, kMost> frames;
  const stacks::Walk walk = stacks::capture(std::span{frames}.first(most));
  benchmark::DoNotOptimize(kept.tables().intern_stack({.addresses = std::span{frames}.first(walk.frames)}, 1));
  return walk.frames;
}

std::size_t take_for_the_first_time(std::size_t most) {
  stacks::forget_unloaded();
  return take_ours(most);
}

std::size_t take_by_run_time(std::size_t most) {
  Place place{.frames = {}, .count = 0, .deepest = most};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto& into = *static_cast<Place*>(data);
        into.frames[into.count++] = _Unwind_GetIP(context);
        return into.count == into.deepest ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &place);
  benchmark::DoNotOptimize(place);
  return place.count;
}

std::size_t take_by_c_library(std::size_t most) {
  std::array<void*, kMost> frames;
  const int count = backtrace(frames.data(), static_cast<int>(most));
  benchmark::DoNotOptimize(frames);
  return static_cast<std::size_t>(count);
}

using Take = std::size_t (*)(std::size_t);

// Each a frame that can't become a jump or a loop.
template <int Depth>
__attribute__((noinline)) std::size_t at_depth(benchmark::State& state, Take take, std::size_t most) {
  std::array<std::uintptr_t, 4> locals{};
  benchmark::DoNotOptimize(locals);
  std::size_t taken = 0;
  if constexpr (Depth == 0) {
    for (auto _ : state) {
      taken = take(most);
    }
  } else {
    taken = at_depth<Depth - 1>(state, take, most);
  }
  benchmark::DoNotOptimize(locals);
  return taken;
}

void report(benchmark::State& state, std::size_t taken) { state.counters["frames"] = static_cast<double>(taken); }

void in_main(benchmark::State& state, Take take, std::size_t frames) {
  report(state, at_depth<40>(state, take, frames));
}

void in_thread(benchmark::State& state, Take take, std::size_t frames) {
  std::thread{[&] { report(state, at_depth<40>(state, take, frames)); }}.join();
}

// On a stack of which a walk knows nothing.
void in_fiber(benchmark::State& state, Take take, std::size_t frames) {
  static std::array<char, 256 << 10> memory;
  static ucontext_t outside;
  static ucontext_t fiber;
  static std::function<void()> work;
  work = [&] { report(state, at_depth<40>(state, take, frames)); };
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = memory.data();
  fiber.uc_stack.ss_size = memory.size();
  fiber.uc_link = &outside;
  makecontext(
      &fiber, [] { work(); }, 0);
  swapcontext(&outside, &fiber);
}

#define TIDEMARK_STACK(where, name, take, frames) BENCHMARK_CAPTURE(where, name, take, frames)->Name(#name "_" #frames)
TIDEMARK_STACK(in_main, ours, &take_ours, 20);
TIDEMARK_STACK(in_main, unwind_backtrace, &take_by_run_time, 20);
TIDEMARK_STACK(in_main, backtrace, &take_by_c_library, 20);
TIDEMARK_STACK(in_main, ours, &take_ours, 40);
TIDEMARK_STACK(in_thread, ours_in_a_thread, &take_ours, 20);
TIDEMARK_STACK(in_fiber, ours_in_a_fiber, &take_ours, 20);
TIDEMARK_STACK(in_main, ours_kept_once, &take_and_keep, 20);
TIDEMARK_STACK(in_main, ours_for_the_first_time, &take_for_the_first_time, 20);

}  // namespace
}  // namespace tidemark::bench

BENCHMARK_MAIN();
