// Times the workloads over one library's calls, in one thread and in two, and prints the figures as JSON.
//
//   workload_bench_LIBRARY [--seconds S] [--threads N] [WORKLOAD...]
//
// Nanoseconds for a pair of one allocation and one free, as a thread that makes it waits for it: the median and the
// mean over batches of at least 64 pairs, so that reading the clock (25 ns) is lost in them; the median of batches
// passes over what happens now and then (a growing cache, another process's turn).
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/device_calls.hpp"
#include "bench/null_counts.hpp"
#include "bench/workloads.hpp"

namespace tidemark::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kDeviceMemory = std::uint64_t{80} << 30;

double nanoseconds(Clock::duration duration) { return std::chrono::duration<double, std::nano>(duration).count(); }

// One thread's blocks.
class Player {
 public:
  explicit Player(const Workload& work) : work_(work), blocks_(work.slots) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player() {
    for (void* block : blocks_) {
      if (block != nullptr) give(block);
    }
  }

  // False: an allocation failed.
  bool begin() { return play(work_.before.data(), work_.before.size()); }
  bool play_batch() {
    const bool played = play(work_.cycle.data() + next_, work_.batch_steps);
    next_ = next_ + work_.batch_steps == work_.cycle.size() ? 0 : next_ + work_.batch_steps;
    return played;
  }
  bool play_cycle() { return play(work_.cycle.data(), work_.cycle.size()); }

 private:
  bool play(const Step* step, std::size_t count) {
    for (const Step* const end = step + count; step != end; ++step) {
      void*& block = blocks_[step->slot];
      if (step->size == 0) {
        give(block);
        block = nullptr;
      } else if (block = take(step->size); block == nullptr) {
        return false;
      }
    }
    return true;
  }

  const Workload& work_;
  std::vector<void*> blocks_;
  std::size_t next_ = 0;
};

// All threads start at once, and stop when the time is over.
class Round {
 public:
  Round(unsigned threads, double seconds) : threads_(threads), duration_(seconds) {}

  Clock::time_point begin() {
    ready_.fetch_add(1);
    while (ready_.load() < threads_) sched_yield();
    return Clock::now();
  }
  // Two threads are timed only while both work.
  [[nodiscard]] bool is_over(Clock::time_point begun, Clock::time_point now) {
    if (now - begun >= duration_) over_.store(true, std::memory_order_relaxed);
    return over_.load(std::memory_order_relaxed);
  }
  void give_up() { over_.store(true); }
  // Before any thread gives back what it still has.
  void end() {
    ended_.fetch_add(1);
    while (ended_.load() < threads_) sched_yield();
  }

 private:
  const unsigned threads_;
  const std::chrono::duration<double> duration_;
  std::atomic<unsigned> ready_{0};
  std::atomic<unsigned> ended_{0};
  std::atomic<bool> over_{false};
};

using Batches = std::vector<double>;  // nanoseconds for a pair, one figure a batch

struct Figures {
  double p50 = 0;
  double mean = 0;
  std::uint64_t batches = 0;
  std::uint64_t driver_calls = 0;  // the null driver's, while it was timed: what was no hit
};

std::uint64_t count_driver_calls() {
  const ReadNullCounts read = null_counts();
  const NullCounts counts = read == nullptr ? NullCounts{} : read();
  return counts.allocations + counts.frees;
}

std::optional<Figures> figures_of(Batches batches, std::uint64_t driver_calls) {
  if (batches.empty()) return std::nullopt;
  double sum = 0;
  for (const double batch : batches) sum += batch;
  const auto middle = batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2);
  std::nth_element(batches.begin(), middle, batches.end());
  return Figures{.p50 = *middle,
                 .mean = sum / static_cast<double>(batches.size()),
                 .batches = batches.size(),
                 .driver_calls = driver_calls};
}

struct Played {
  Batches batches;  // empty: the library could not do the work
  std::uint64_t driver_calls = 0;
};

Played play(const Workload& work, Round& round) {
  Played played;
  played.batches.reserve(1 << 18);
  Player player{work};
  // Twice in advance: what a cache makes for its first rounds is not what is asked for here.
  bool goes_on = prepare() && player.begin() && player.play_cycle() && player.play_cycle();
  const Clock::time_point begun = round.begin();
  const std::uint64_t calls_before = count_driver_calls();
  for (Clock::time_point before = begun; goes_on && !round.is_over(begun, before);) {
    goes_on = player.play_batch();
    const Clock::time_point after = Clock::now();
    played.batches.push_back(nanoseconds(after - before) / static_cast<double>(work.batch_pairs()));
    before = after;
  }
  if (!goes_on) {
    round.give_up();
    played.batches.clear();
  }
  played.driver_calls = count_driver_calls() - calls_before;
  round.end();
  return played;
}

std::optional<Figures> figures_of_threads(const std::vector<Workload>& works, double seconds) {
  Round round{static_cast<unsigned>(works.size()), seconds};
  std::vector<Played> results(works.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < works.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = play(works[i], round); });
  }
  results[0] = play(works[0], round);
  for (std::thread& thread : threads) thread.join();
  Batches all;
  for (const Played& one : results) {
    if (one.batches.empty()) return std::nullopt;
    all.insert(all.end(), one.batches.begin(), one.batches.end());
  }
  return figures_of(std::move(all), results[0].driver_calls);
}

// Until `is_true` says so. A turn of the processor's is given away only after a while: on a busy machine it is gone for
// milliseconds, and that is what would be measured.
template <class Question>
void wait_until(Question&& is_true) {
  constexpr int kSpins = 20'000;
  for (int spins = 0; !is_true(); ++spins) {
    if (spins >= kSpins) sched_yield();
  }
}

// Blocks on their way from one thread to the other; a null block is the end.
class Belt {
 public:
  void put(void* block) {
    wait_until([&] { return put_.load(std::memory_order_relaxed) - got_.load(std::memory_order_acquire) < kPlaces; });
    places_[put_.load(std::memory_order_relaxed) % kPlaces] = block;
    put_.store(put_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void* get() {
    wait_until([&] { return put_.load(std::memory_order_acquire) != got_.load(std::memory_order_relaxed); });
    void* const block = places_[got_.load(std::memory_order_relaxed) % kPlaces];
    got_.store(got_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return block;
  }

 private:
  static constexpr std::size_t kPlaces = 256;
  alignas(64) std::atomic<std::size_t> put_{0};
  alignas(64) std::atomic<std::size_t> got_{0};
  std::array<void*, kPlaces> places_{};
};

// What the freeing thread sees: blocks come as fast as the other allocates, and go as fast as they can.
std::optional<Figures> figures_of_cross_thread(double seconds) {
  constexpr std::size_t kBatch = 64;
  Belt belt;
  std::atomic<bool> over{false};
  Batches batches;
  std::thread freeing{[&] {
    prepare();
    std::size_t count = 0;
    Clock::time_point before = Clock::now();
    const Clock::time_point begun = before;
    for (void* block = belt.get(); block != nullptr; block = belt.get()) {
      give(block);
      if (++count % kBatch == 0) {
        const Clock::time_point after = Clock::now();
        batches.push_back(nanoseconds(after - before) / kBatch);
        before = after;
        if (after - begun >= std::chrono::duration<double>(seconds)) over.store(true, std::memory_order_relaxed);
      }
    }
  }};
  prepare();
  const std::uint64_t calls_before = count_driver_calls();
  bool failed = false;
  while (!over.load(std::memory_order_relaxed) && !failed) {
    void* const block = take(kCrossThreadSize);
    failed = block == nullptr;
    if (!failed) belt.put(block);
  }
  belt.put(nullptr);
  freeing.join();
  return failed ? std::nullopt : figures_of(std::move(batches), count_driver_calls() - calls_before);
}

class Report {
 public:
  void add(const char* work, unsigned threads, const std::optional<Figures>& figures) {
    std::printf("%s\n  \"%s/%u\": ", is_first_ ? "{" : ",", work, threads);
    is_first_ = false;
    if (!figures) {
      std::printf("null");
      return;
    }
    std::printf("{\"p50\": %.2f, \"mean\": %.2f, \"batches\": %llu, \"driver_calls\": %llu}", figures->p50,
                figures->mean, static_cast<unsigned long long>(figures->batches),
                static_cast<unsigned long long>(figures->driver_calls));
  }
  ~Report() { std::printf("%s\n", is_first_ ? "{}" : "\n}"); }

 private:
  bool is_first_ = true;
};

void run(double seconds, unsigned most_threads, const std::vector<std::string>& wanted) {
  const auto is_wanted = [&](const char* name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  Report report;
  for (unsigned threads = 1; threads <= most_threads; ++threads) {
    std::vector<std::vector<Workload>> by_thread;
    for (unsigned i = 0; i < threads; ++i) by_thread.push_back(workloads(kDeviceMemory / threads, 1 + 100 * i));
    for (std::size_t which = 0; which < by_thread[0].size(); ++which) {
      if (!is_wanted(by_thread[0][which].name)) continue;
      std::vector<Workload> works;
      for (const std::vector<Workload>& one : by_thread) works.push_back(one[which]);
      report.add(works[0].name, threads, figures_of_threads(works, seconds));
    }
  }
  if (most_threads > 1 && is_wanted(kCrossThread)) {
    report.add(kCrossThread, 2, figures_of_cross_thread(seconds));
  }
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  double seconds = 0.1;
  unsigned threads = 2;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::strtod(argv[++i], nullptr);
    } else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      threads = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else {
      wanted.emplace_back(argv[i]);
    }
  }
  void* const block = tidemark::bench::prepare() ? tidemark::bench::take(1 << 20) : nullptr;
  if (block == nullptr) {
    std::fprintf(stderr, "%s: nothing can be allocated\n", tidemark::bench::kLibrary);
    return EXIT_FAILURE;
  }
  tidemark::bench::give(block);
  tidemark::bench::run(seconds, threads, wanted);
}
