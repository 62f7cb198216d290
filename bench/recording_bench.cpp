// What memory history costs: the same pairs of allocate and release with it off, on, and on with stacks, in one run. A
// pair that hits is three events (handed out, free requested, free completed), so an event costs a third of what is
// between off and on; a stack is taken once a pair, where the program allocates.
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/null_device.hpp"
#include "shared/history/snapshot_image.hpp"
#include "shim/alloc/device_cache.hpp"
#include "shim/publish/device_recorder.hpp"
#include "shim/stacks/stack_keeper.hpp"

namespace tidemark::bench {
namespace {

constexpr alloc::ContextId kContext{1};

enum Recording : std::int64_t { kOff, kOn, kWithStacks };

class Recorded {
 public:
  explicit Recorded(std::int64_t recording) {
    const history::Settings settings{.stacks = recording == kWithStacks ? history::Stacks::All : history::Stacks::None};
    const history::DeviceSizes sizes = history::device_sizes(settings);
    if (recording != kOff && image_.make({}, history::process_sizes(settings), {&sizes, 1}).ok() &&
        recorder_.begin(image_.device(0), publish::DeviceRecorder::Present::Older, kNumber)) {
      cache_.set_history(&recorder_, &recorder_.first_look());
      if (recording == kWithStacks) {
        keeper_ = std::make_unique<stacks::StackKeeper>(image_.tables(), settings.stacks);
      }
    }
  }
  ~Recorded() { cache_.set_history(nullptr, nullptr); }

  [[nodiscard]] alloc::DevicePtr taken(std::uint64_t size) {
    if (keeper_) {
      publish::stack_of_call = {.number = keeper_->keep(alloc::Clock::system().monotonic_ns()), .recording = kNumber};
    }
    const alloc::DevicePtr ptr = cache_.allocate(kContext, Bytes{size}).value();
    publish::stack_of_call = {};
    return ptr;
  }
  void given(alloc::DevicePtr ptr) { benchmark::DoNotOptimize(cache_.release(ptr)); }

 private:
  static constexpr std::uint32_t kNumber = 1;

  NullDevice device_;
  alloc::SegmentMap map_;
  history::SnapshotImage image_;  // in place of a file: pages of memory, as those of /dev/shm are
  publish::DeviceRecorder recorder_;
  std::unique_ptr<stacks::StackKeeper> keeper_;
  alloc::DeviceCache cache_{device_, nullptr, map_, alloc::Policy::cuda_default()};
};

// As deep as programs are: frames that can't become jumps.
template <int Depth, class Work>
__attribute__((noinline)) void at_depth(const Work& work) {
  if constexpr (Depth == 0) {
    work();
  } else {
    at_depth<Depth - 1>(work);
  }
  benchmark::ClobberMemory();
}
constexpr int kDepth = 20;

void recorded_4_kib(benchmark::State& state) {
  const auto subject = std::make_unique<Recorded>(state.range(0));
  const alloc::DevicePtr wall = subject->taken(4096);
  at_depth<kDepth>([&] {
    for (auto _ : state) {
      subject->given(subject->taken(4096));
    }
  });
  subject->given(wall);
}
BENCHMARK(recorded_4_kib)->ArgName("record")->Arg(kOff)->Arg(kOn)->Arg(kWithStacks);

// Blocks all over the tables, one of 4096 replaced each time.
void recorded_window(benchmark::State& state) {
  const auto subject = std::make_unique<Recorded>(state.range(0));
  std::mt19937_64 random{2};
  const auto size = [&random] { return 512 + random() % (256 << 10); };
  std::vector<alloc::DevicePtr> held(4096);
  for (alloc::DevicePtr& ptr : held) {
    ptr = subject->taken(size());
  }
  at_depth<kDepth>([&] {
    for (auto _ : state) {
      alloc::DevicePtr& ptr = held[random() % held.size()];
      subject->given(ptr);
      ptr = subject->taken(size());
    }
  });
}
BENCHMARK(recorded_window)->ArgName("record")->Arg(kOff)->Arg(kOn)->Arg(kWithStacks);

}  // namespace
}  // namespace tidemark::bench
