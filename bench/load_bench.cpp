// What it costs a process to be started with the library preloaded: the whole life of /bin/true, with and without.
//   load_bench LIBRARY EMPTY: the library, and one with nothing in it (what any preload costs).
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void live_of_true(benchmark::State& state, const std::string& preload) {
  std::string variable = "LD_PRELOAD=" + preload;
  std::string name = "true";
  char* const arguments[] = {name.data(), nullptr};
  char* const environment[] = {preload.empty() ? nullptr : variable.data(), nullptr};
  for (auto _ : state) {
    pid_t pid = 0;
    int status = 0;
    if (posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments, environment) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
      state.SkipWithError("/bin/true failed");
      break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: load_bench LIBRARY EMPTY\n");
    return EXIT_FAILURE;
  }
  benchmark::RegisterBenchmark("true", live_of_true, "")->UseRealTime();
  benchmark::RegisterBenchmark("true_with_empty_library", live_of_true, argv[2])->UseRealTime();
  benchmark::RegisterBenchmark("true_with_tidemark", live_of_true, argv[1])->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
}
