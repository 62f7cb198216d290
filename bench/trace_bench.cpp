// Replays a recorded program over one library's calls and the null driver's 80 GiB, and prints as JSON what it cost.
//
//   trace_bench_LIBRARY TRACE [--passes N]
//
// Between two passes everything the trace left live is freed. The first pass begins with nothing cached; the time of a
// later one is the fastest of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "bench/device_calls.hpp"
#include "bench/null_counts.hpp"
#include "bench/trace.hpp"

namespace tidemark::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Pass {
  double ns_for_a_pair = 0;
  std::uint64_t driver_allocations = 0;
  std::uint64_t driver_frees = 0;
  std::uint64_t failures = 0;
};

Pass replay(const Trace& trace, std::vector<void*>& blocks, ReadNullCounts counts) {
  Pass pass;
  const NullCounts before = counts();
  const Clock::time_point begin = Clock::now();
  for (const Step& step : trace.steps) {
    void*& block = blocks[step.slot];
    if (step.size != 0) {
      block = take(step.size);
      pass.failures += block == nullptr ? 1U : 0U;
    } else if (block != nullptr) {
      give(block);
      block = nullptr;
    }
  }
  for (void*& block : blocks) {
    if (block != nullptr) {
      give(block);
      block = nullptr;
    }
  }
  const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
  const NullCounts after = counts();
  pass.ns_for_a_pair = time.count() / static_cast<double>(trace.allocations);
  pass.driver_allocations = after.allocations - before.allocations;
  pass.driver_frees = after.frees - before.frees;
  return pass;
}

void print(const char* name, const Pass& pass) {
  std::printf("\"%s\": {\"ns\": %.1f, \"driver_allocations\": %llu, \"driver_frees\": %llu, \"failures\": %llu}", name,
              pass.ns_for_a_pair, static_cast<unsigned long long>(pass.driver_allocations),
              static_cast<unsigned long long>(pass.driver_frees), static_cast<unsigned long long>(pass.failures));
}

void run(const Trace& trace, int passes, ReadNullCounts counts) {
  std::vector<void*> blocks(trace.slots);
  const Pass first = replay(trace, blocks, counts);
  const Pass second = replay(trace, blocks, counts);
  double later_ns = second.ns_for_a_pair;
  for (int i = 2; i < passes; ++i) {
    later_ns = std::min(later_ns, replay(trace, blocks, counts).ns_for_a_pair);
  }
  std::printf("{\"allocations\": %llu, \"live_peak\": %llu, \"reserved_peak\": %llu, \"later_ns\": %.1f, ",
              static_cast<unsigned long long>(trace.allocations),
              static_cast<unsigned long long>(trace.live_peak_bytes),
              static_cast<unsigned long long>(counts().peak_bytes), later_ns);
  print("first", first);
  std::printf(", ");
  print("second", second);
  std::printf("}\n");
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  using namespace tidemark::bench;  // NOLINT(google-build-using-namespace)
  const auto trace = argc > 1 ? read_trace(argv[1]) : std::nullopt;
  const int passes = argc > 3 && std::strcmp(argv[2], "--passes") == 0 ? std::atoi(argv[3]) : 5;
  if (!trace) {
    std::fprintf(stderr, "trace_bench: %s is no trace\n", argc > 1 ? argv[1] : "(nothing)");
    return EXIT_FAILURE;
  }
  const ReadNullCounts counts = null_counts();
  if (!prepare() || counts == nullptr) {
    std::fprintf(stderr, "%s: not over the null driver\n", kLibrary);
    return EXIT_FAILURE;
  }
  run(*trace, passes, counts);
}
