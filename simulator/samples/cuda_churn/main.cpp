// Allocates and frees device memory in a loop, as many programs do that should not.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#include "simulator/samples/cuda_churn/options.hpp"
#include "simulator/samples/cuda_churn/worker.hpp"

namespace churn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long kRound = 500;
constexpr long kRoundsPerReport = 4;
constexpr std::chrono::seconds kPhase{3};
// How many blocks a thread holds in each phase.
constexpr std::size_t kPhases[] = {24, 64, 8};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Run {
 public:
  explicit Run(const Options& options) : options_(options) {}

  // False: something went wrong and has been said.
  bool execute() {
    std::vector<std::thread> others;
    for (int i = 1; i < options_.threads; ++i) others.emplace_back([this, i] { work(i); });
    work(0);
    for (std::thread& other : others) other.join();
    if (failed_) return false;
    std::printf("done: %ld iterations, checksum %016llx\n", iterations_.load(),
                static_cast<unsigned long long>(checksum_.load()));
    return true;
  }

 private:
  void work(int index) {
    try {
      Worker worker{static_cast<unsigned>(index + 1)};
      while (!failed_ && !is_over(worker)) {
        worker.step(kPhases[phase_of(worker)]);
        if (index == 0 && worker.steps() % kRound == 0) report(worker);
      }
      worker.finish();
      iterations_ += worker.steps();
      checksum_ += worker.checksum();
    } catch (const std::exception& error) {
      failed_ = true;
      std::fprintf(stderr, "cuda_churn: %s\n", error.what());
    }
  }

  [[nodiscard]] bool is_over(const Worker& worker) const {
    if (options_.iterations) return worker.steps() >= *options_.iterations;
    return worker.steps() > 0 && worker.steps() % kRound == 0 && seconds_since(start_) >= options_.seconds;
  }

  // By the clock where the run goes by the clock, so that somebody who watches sees them.
  [[nodiscard]] std::size_t phase_of(const Worker& worker) const {
    const long phase = options_.iterations || options_.seconds == 0
                           ? worker.steps() / (kRound / 4)
                           : static_cast<long>((Clock::now() - start_) / kPhase);
    return static_cast<std::size_t>(phase) % std::size(kPhases);
  }

  void report(const Worker& worker) {
    if (options_.iterations || options_.seconds == 0) {
      if (worker.steps() % (kRound * kRoundsPerReport) != 0) return;
    } else {
      if (Clock::now() - last_report_ < std::chrono::seconds{1}) return;
      last_report_ = Clock::now();
    }
    std::printf("iteration %8ld  holds %10zu bytes  checksum %016llx\n", worker.steps(), worker.held_bytes(),
                static_cast<unsigned long long>(worker.checksum()));
    std::fflush(stdout);
  }

  const Options options_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_report_ = start_;  // the first thread's
  std::atomic<long> iterations_{0};
  std::atomic<std::uint64_t> checksum_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace
}  // namespace churn

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = churn::parse(argc, argv, exit_code);
  if (!options) return exit_code;
  return churn::Run{*options}.execute() ? 0 : 1;
}
