// What a hit costs inside the allocator: pairs of allocate and release over a driver of constant cost, publishing into
// memory as a segment's slot does. The entry points in front of it are measured elsewhere.
#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/null_device.hpp"
#include "shared/segment/sequence.hpp"
#include "shim/alloc/device_cache.hpp"

namespace tidemark::bench {
namespace {

using alloc::DeviceCache;
using alloc::DevicePtr;
using alloc::Policy;

constexpr alloc::ContextId kContext{1};

// Changed lines into shared words under a sequence, as the slot of a segment takes them.
class Published final : public alloc::StatsSink {
 public:
  void publish(const DeviceBasis& basis, BasisLines changed) noexcept override {
    const segment::WriteSection section{sequence_, own_sequence_};
    segment::store_lines(words_, basis, changed);
  }

 private:
  std::uint64_t own_sequence_ = 0;
  alignas(64) segment::Word sequence_{0};
  alignas(64) std::array<segment::Word, kBasisWords> words_{};
};

struct Subject {
  explicit Subject(const Policy& policy, bool publishes = true)
      : cache(std::make_unique<DeviceCache>(device, publishes ? &sink : nullptr, map, policy)) {}

  NullDevice device;
  Published sink;
  alloc::SegmentMap map;
  std::unique_ptr<DeviceCache> cache;
};

Policy policy_of(std::int64_t fast) {
  Policy policy = Policy::cuda_default();
  policy.free_mode = fast != 0 ? alloc::FreeMode::Fast : alloc::FreeMode::Strict;
  return policy;
}

DevicePtr taken(Subject& subject, std::uint64_t size) { return subject.cache->allocate(kContext, Bytes{size}).value(); }
void given(Subject& subject, DevicePtr ptr) {
  // As an entry point frees: by the owner that the map names.
  benchmark::DoNotOptimize(subject.map.owner_of(ptr)->release(ptr));
}

std::vector<std::uint64_t> log_uniform_sizes() {
  std::mt19937_64 random{1};
  std::vector<std::uint64_t> sizes(4096);
  for (std::uint64_t& size : sizes) {
    const std::uint64_t power = std::uint64_t{512} << random() % 12;
    size = power + random() % power;
  }
  return sizes;
}

void fixed_4_kib(benchmark::State& state) {
  Subject subject{policy_of(state.range(0)), state.range(1) != 0};
  const DevicePtr wall = taken(subject, 4096);
  for (auto _ : state) {
    given(subject, taken(subject, 4096));
  }
  given(subject, wall);
}
BENCHMARK(fixed_4_kib)->ArgNames({"fast", "publish"})->Args({0, 1})->Args({0, 0})->Args({1, 1});

void whole_8_mib(benchmark::State& state) {
  Subject subject{policy_of(state.range(0))};
  for (auto _ : state) {
    given(subject, taken(subject, 8 << 20));
  }
}
BENCHMARK(whole_8_mib)->ArgName("fast")->Arg(0)->Arg(1);

void lifo(benchmark::State& state) {
  Subject subject{policy_of(state.range(0))};
  const std::vector<std::uint64_t> sizes = log_uniform_sizes();
  std::size_t next = 0;
  std::vector<DevicePtr> held;
  for (auto _ : state) {
    for (int i = 0; i < 16; ++i) {
      held.push_back(taken(subject, sizes[next++ % sizes.size()]));
    }
    for (; !held.empty(); held.pop_back()) {
      given(subject, held.back());
    }
  }
  state.SetItemsProcessed(state.iterations() * 16);
}
BENCHMARK(lifo)->ArgName("fast")->Arg(0)->Arg(1);

void window(benchmark::State& state) {
  Subject subject{policy_of(0)};
  const std::vector<std::uint64_t> sizes = log_uniform_sizes();
  const auto live = static_cast<std::size_t>(state.range(0));
  std::mt19937 random{2};
  std::vector<DevicePtr> held;
  for (std::size_t i = 0; i < live; ++i) {
    held.push_back(taken(subject, sizes[i % sizes.size()]));
  }
  std::vector<std::uint32_t> order(8192);
  std::generate(order.begin(), order.end(), [&] { return random() % static_cast<std::uint32_t>(live); });
  std::size_t next = 0;
  for (auto _ : state) {
    DevicePtr& slot = held[order[next % order.size()]];
    given(subject, slot);
    slot = taken(subject, sizes[next++ % sizes.size()]);
  }
  state.counters["misses"] = static_cast<double>(subject.device.allocations);
}
BENCHMARK(window)->Arg(256)->Arg(4096);

void count_only(benchmark::State& state) {
  Policy policy = policy_of(0);
  policy.mode = DeviceMode::Count;
  Subject subject{policy};
  for (auto _ : state) {
    given(subject, taken(subject, 4096));
  }
}
BENCHMARK(count_only);

void two_threads_4_kib(benchmark::State& state) {
  static std::unique_ptr<Subject> shared;
  if (state.thread_index() == 0) {
    shared = std::make_unique<Subject>(policy_of(0));
  }
  for (auto _ : state) {
    given(*shared, taken(*shared, 4096));
  }
  if (state.thread_index() == 0) {
    shared.reset();
  }
}
BENCHMARK(two_threads_4_kib)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace tidemark::bench

BENCHMARK_MAIN();
