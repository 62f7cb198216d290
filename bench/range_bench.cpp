// What a program's NVTX range costs: one push and one pop around nothing, while a device is served. Run without a tool,
// and with NVTX_INJECTION64_PATH (table.py).
#include <benchmark/benchmark.h>
#include <mtia.h>
#include <nvtx3/nvToolsExt.h>

namespace {

void pairs(benchmark::State& state) {
  void* block = nullptr;
  if (mtiaMalloc(&block, 1 << 20) != MTIA_SUCCESS) {
    state.SkipWithError("no device");
    return;
  }
  for (auto _ : state) {
    nvtxRangePushA("a range of usual length");
    nvtxRangePop();
  }
  mtiaFree(block);
}
BENCHMARK(pairs)->Name("push_and_pop");

void nested(benchmark::State& state) {
  for (int i = 0; i < 10; ++i) {
    nvtxRangePushA("around it");
  }
  pairs(state);
  for (int i = 0; i < 10; ++i) {
    nvtxRangePop();
  }
}
BENCHMARK(nested)->Name("the_eleventh_level");

}  // namespace

BENCHMARK_MAIN();
