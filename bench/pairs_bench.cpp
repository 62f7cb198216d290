// What a program pays for a pair of allocation and free, through the entry points it calls itself. The same program
// runs natively and under the shim, over the null driver, the simulators or malloc: bench/run.sh puts the results side
// by side.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "bench/device_calls.hpp"

namespace tidemark::bench {
namespace {

void pair_of_one_size(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = take(size);
    benchmark::DoNotOptimize(block);
    give(block);
  }
}
BENCHMARK(pair_of_one_size)->Name("pair")->Arg(4 << 10)->Arg(4 << 20);

// Sizes from 512 B to 2 MiB, each doubling as likely as the next; the same in every run.
std::vector<std::size_t> mixed_sizes(std::size_t count) {
  std::mt19937_64 random{42};  // NOLINT(cert-msc51-cpp): a benchmark is to repeat itself
  std::uniform_real_distribution<double> exponent{9.0, 21.0};
  std::vector<std::size_t> sizes(count);
  for (std::size_t& size : sizes) size = static_cast<std::size_t>(std::exp2(exponent(random)));
  return sizes;
}

// A program with blocks of all ages: 256 are live, and each step replaces one of them.
void window_of_live_blocks(benchmark::State& state) {
  constexpr std::size_t kLive = 256;
  const std::vector<std::size_t> sizes = mixed_sizes(4096);
  std::mt19937_64 random{7};  // NOLINT(cert-msc51-cpp)
  std::vector<std::size_t> victims(4096);
  for (std::size_t& victim : victims) victim = random() % kLive;
  std::array<void*, kLive> live{};
  for (std::size_t i = 0; i < kLive; ++i) live[i] = take(sizes[i]);
  std::size_t step = 0;
  for (auto _ : state) {
    void*& block = live[victims[step % victims.size()]];
    give(block);
    block = take(sizes[step % sizes.size()]);
    ++step;
  }
  for (void* block : live) give(block);
}
BENCHMARK(window_of_live_blocks)->Name("window256");

// A network's training step: activations come in order and go in reverse, while the weights stay.
void forward_and_backward(benchmark::State& state) {
  constexpr std::size_t kLayers = 96;
  const std::vector<std::size_t> sizes = mixed_sizes(kLayers);
  std::array<void*, kLayers> weights{};
  std::array<void*, kLayers> activations{};
  for (std::size_t i = 0; i < kLayers; ++i) weights[i] = take(sizes[i]);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLayers; ++i) activations[i] = take(sizes[i]);
    for (std::size_t i = kLayers; i-- > 0;) give(activations[i]);
  }
  for (void* block : weights) give(block);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLayers));
}
BENCHMARK(forward_and_backward)->Name("layers96");

void pair_in_threads(benchmark::State& state) {
  for (auto _ : state) {
    void* block = take(4 << 10);
    benchmark::DoNotOptimize(block);
    give(block);
  }
}
BENCHMARK(pair_in_threads)->Name("pair4k_threads")->Threads(2)->UseRealTime();

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (!tidemark::bench::prepare()) {
    std::fprintf(stderr, "%s: no device\n", tidemark::bench::kLibrary);
    return EXIT_FAILURE;
  }
  // What cannot be allocated must not be timed as if it had been.
  void* block = tidemark::bench::take(1 << 20);
  if (block == nullptr) {
    std::fprintf(stderr, "%s: nothing can be allocated\n", tidemark::bench::kLibrary);
    return EXIT_FAILURE;
  }
  tidemark::bench::give(block);
  benchmark::AddCustomContext("library", tidemark::bench::kLibrary);
  benchmark::RunSpecifiedBenchmarks();
}
